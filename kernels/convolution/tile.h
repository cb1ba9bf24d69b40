// Tile kernels of convolutions: rows x vectors of sums held in registers over one chunk of k.
//
//   sum[r][v] += broadcast a[r_offset[r] + k * a_step] * b[v_offset[v] + k * b_step]
//
// What k walks over is a list of runs, each a stretch of k along which both operands advance
// evenly; skipped taps are simply in no run. All distances are constants of the code, so a tile
// needs no address arithmetic; tiles are generated on first use and kept for the process.
#pragma once

#include <cstdint>

#include "groove/dtype.h"
#include "kernels/asmjit/isa.h"
#include "src/core/pooled.h"

namespace groove::kernels {

struct ConvolutionTileSpec {
  ScalarType dtype = kFloat;
  Isa isa = Isa::kAvx2;
  bool is_half = false;        // 32-byte vectors under AVX-512
  bool has_row_masks = false;  // runs may leave out rows
  std::int64_t a_step = 0, b_step = 0;        // bytes a step of k
  std::int64_t sum_row = 0, sum_vector = 0;  // bytes between sums in memory
  PooledVector<std::int32_t> a_offsets = {};  // of the rows, in bytes
  PooledVector<std::int32_t> b_offsets = {};  // of the vectors, in bytes
  bool operator==(const ConvolutionTileSpec&) const = default;
};

struct ConvolutionRun {
  std::int64_t a = 0, b = 0;  // bytes from the operands' bases to the first step
  std::int64_t count = 0;     // steps, at least 1
  std::uint64_t rows = ~std::uint64_t{0};  // bit r: row r takes part
};

struct ConvolutionTileArguments {
  const void* a;
  const void* b;
  void* sums;
  const ConvolutionRun* runs;
  const ConvolutionRun* runs_end;
  std::int64_t adds;  // 0: the chunk's values are stored; otherwise added to what is there
};
using ConvolutionTile = void (*)(const ConvolutionTileArguments*);

/// The most rows of a tile with so many vectors; 0 when there is none.
int max_convolution_rows(Isa isa, int vectors);
inline constexpr int kMaxConvolutionVectors = 4;

/// Generated at the first call with this specification.
ConvolutionTile find_convolution_tile(const ConvolutionTileSpec& spec);

}  // namespace groove::kernels
