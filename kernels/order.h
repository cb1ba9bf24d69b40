// The constants of the numeric contract: the one definition of every order of summation. The
// interpreter, the code generators and the tests all read them here.
#pragma once

#include <cstdint>

namespace groove::kernels::order {

// Row order: reduced axes that are a suffix of the shape, flattened to one row.
inline constexpr std::int64_t kRowChunk = 4096;  // elements of a chunk
inline constexpr std::int64_t kRowLanes = 32;    // lane j takes the elements j mod 32 of a chunk

// Column order: every other set of axes, flattened to rows that are summed per column.
inline constexpr std::int64_t kColumnChunk = 128;  // rows of a chunk, ascending within it

// Contractions of class "chain": fma over ascending k from +0.0 in chunks, chunk values added in
// ascending order, each once (the first is taken as is).
inline constexpr std::int64_t kContractionChunk = 256;
// Class "dot" (row order over fma'd products, lanes start at -0.0) only when m and n are both
// below this bound.
inline constexpr std::int64_t kDotBound = 8;

// Chunk results combine pairwise by index, level by level, an odd one carried up. An equivalent
// way to walk the same tree: a stack on which chunk c is merged with the top once for every
// trailing one bit of c; what is left at the end is merged from the top down.

// Identities held by absent lanes and by empty reductions.
inline constexpr double kSumIdentity = -0.0;  // x + -0.0 is x for every x, -0.0 included
inline constexpr double kEmptySum = 0.0;      // the value of a sum over nothing

}  // namespace groove::kernels::order
