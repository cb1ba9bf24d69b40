// Which code computes a convolution, and what both tiled products share.
#include "kernels/convolution/convolution.h"

#include <algorithm>

#include "kernels/backend.h"
#include "kernels/convolution/tiled.h"
#include "src/core/allocator.h"

namespace groove::kernels {

void run_convolution(const ConvolutionCall& call, int part, int parts) {
  static Backend* const oracle = find_backend("interpreter");
  if (&current_backend() == oracle) return run_convolution_reference(call, part, parts);
  run_convolution_tiled(call, isa(), part, parts);
}

void run_convolution_tiled(const ConvolutionCall& call, Isa isa, int part, int parts) {
  const bool is_weight = call.form == ConvolutionForm::kBackwardWeight;
  if (call.dtype == kDouble) {
    (is_weight ? run_channel_lanes<double> : run_image_lanes<double>)(call, isa, part, parts);
  } else {
    (is_weight ? run_channel_lanes<float> : run_image_lanes<float>)(call, isa, part, parts);
  }
}

ConvolutionTiling choose_convolution_tiling(Isa isa, std::int64_t rows, std::int64_t most_vectors) {
  ConvolutionTiling best;
  double best_cost = 1e300;
  const double fmas_per_cycle = isa == Isa::kAvx512 ? 1 : 2;
  for (int vectors = 1; vectors <= std::min<std::int64_t>(kMaxConvolutionVectors, most_vectors);
       ++vectors) {
    const std::int64_t most = max_convolution_rows(isa, vectors);
    const std::int64_t tiles = (rows + most - 1) / most;
    const double height = double(rows) / double(tiles);
    // Cycles of one step: fmas, loads (two a cycle), the latency of the sums' chains.
    const double step =
        std::max({height * vectors / fmas_per_cycle, (height + vectors) / 2, 4.0}) + 0.5;
    const double cost = step * double(tiles) / vectors;
    if (cost >= best_cost) continue;
    best_cost = cost;
    best = {vectors, (rows + tiles - 1) / tiles, tiles};
  }
  return best;
}

ConvolutionScratch::ConvolutionScratch(std::size_t bytes)
    : bytes_(bytes), block_(allocate(bytes)) {}
ConvolutionScratch::~ConvolutionScratch() { deallocate(block_, bytes_); }

void ConvolutionRuns::add(const ConvolutionRun& run, std::int64_t a_step, std::int64_t b_step) {
  if (runs_.size() > chunks_.back()) {
    ConvolutionRun& last = runs_.back();
    if (last.rows == run.rows && last.a + last.count * a_step == run.a &&
        last.b + last.count * b_step == run.b) {
      last.count += run.count;
      return;
    }
  }
  runs_.push_back(run);
}

}  // namespace groove::kernels
