// Tile kernels: rows x vectors of the output held in registers over all of k, in chunks as the
// numeric contract asks. They are generated on first use and shared by the whole process.
#pragma once

#include <cstdint>

#include "groove/dtype.h"
#include "kernels/asmjit/isa.h"

namespace groove::kernels {

class InlineEpilogue;

inline constexpr int kMaxTileVectors = 8;
inline constexpr int kMaxTileRows = 30;

// How the last vector of a tile ends. Half vectors exist under AVX-512 only.
enum class TileTail : std::uint8_t { kFull, kMasked, kHalf, kHalfMasked };

struct TileSpec {
  ScalarType dtype = kFloat;
  Isa isa = Isa::kAvx2;
  int rows = 1, vectors = 1;
  TileTail tail = TileTail::kFull;
  // The stride of A that is one element: along k (false), so rows are a run-time stride apart, or
  // along m (true), so steps of k are.
  bool a_by_column = false;
  const InlineEpilogue* epilogue = nullptr;  // null: sums are stored to `c`
};

// One operand of an inlined epilogue, at the tile's first element.
struct TileAccess {
  void* pointer;
  std::int64_t row_bytes;
};

// What a tile kernel is called with; strides in bytes.
struct TileArguments {
  const void* a;
  const void* b;  // contiguous along n
  void* c;
  void* totals;  // 64-byte aligned, room for the tile; used when k has several chunks
  std::int64_t a_row, a_col;
  std::int64_t b_row;
  std::int64_t c_row;
  std::int64_t k;
  std::uint64_t mask;          // AVX-512: lanes of the last vector
  const void* lane_mask;       // AVX2: the same as a vector
  const TileAccess* accesses;  // of the inlined epilogue, by access - 1
  const std::uint64_t* scalars;
  // Null, or a further product whose value is added: its a, b, k (one chunk) and strides. Results
  // and the epilogue's operands are those of the last.
  const TileArguments* next;
};

using TileKernel = void (*)(const TileArguments*);

constexpr int vector_lanes(Isa isa, ScalarType dtype) {
  return (isa == Isa::kAvx512 ? 64 : 32) / static_cast<int>(element_size(dtype));
}

/// The most rows of a tile with so many vectors; 0 when there is none.
int max_tile_rows(Isa isa, int vectors, bool is_masked, bool has_epilogue);

/// Generates; throws groove::Error when executable memory runs out.
TileKernel generate_tile(const TileSpec& spec);

// Tile kernels by specification, for one epilogue. Reads are lock-free.
class TileTable {
 public:
  TileTable(ScalarType dtype, Isa isa, const InlineEpilogue* epilogue);
  ~TileTable();
  TileTable(const TileTable&) = delete;
  TileTable& operator=(const TileTable&) = delete;
  TileKernel find(int rows, int vectors, TileTail tail, bool a_by_column) const;
  TileSpec spec(int rows, int vectors, TileTail tail, bool a_by_column) const {
    return {dtype_, isa_, rows, vectors, tail, a_by_column, epilogue_};
  }

 private:
  ScalarType dtype_;
  Isa isa_;
  const InlineEpilogue* epilogue_;
  struct Slots;
  Slots* slots_;
};

}  // namespace groove::kernels
