// The two tiled products behind the three forms, and the memory they work in.
#pragma once

#include <cstddef>

#include "kernels/convolution/convolution.h"
#include "kernels/convolution/tile.h"

namespace groove::kernels {

/// kForward and kBackwardData: images in the lanes, channels of the result in the rows.
template <typename T>
void run_image_lanes(const ConvolutionCall& call, Isa isa, int part, int parts);
/// kBackwardWeight: output channels in the lanes, taps and input channels in the rows.
template <typename T>
void run_channel_lanes(const ConvolutionCall& call, Isa isa, int part, int parts);

// How many rows and vectors the tiles of a product have.
struct ConvolutionTiling {
  int vectors = 1;
  std::int64_t rows = 1;   // of the tallest tile
  std::int64_t tiles = 1;  // over all rows, their heights as equal as can be

  std::int64_t begin(std::int64_t tile, std::int64_t all_rows) const {
    return all_rows * tile / tiles;
  }
};
/// `most_vectors`: how many may stand side by side.
ConvolutionTiling choose_convolution_tiling(Isa isa, std::int64_t rows, std::int64_t most_vectors);

// 64-byte aligned memory of one call.
class ConvolutionScratch {
 public:
  explicit ConvolutionScratch(std::size_t bytes);
  ~ConvolutionScratch();
  ConvolutionScratch(const ConvolutionScratch&) = delete;
  ConvolutionScratch& operator=(const ConvolutionScratch&) = delete;
  template <typename T>
  T* as() const {
    return static_cast<T*>(block_);
  }

 private:
  std::size_t bytes_;
  void* block_;
};

// The runs of one stretch of k, cut where chunks end.
class ConvolutionRuns {
 public:
  /// The runs that are added from now on belong to the next chunk.
  void begin_chunk() { chunks_.push_back(runs_.size()); }
  /// Joined to the run before where both operands, stepping so many bytes, go on evenly.
  void add(const ConvolutionRun& run, std::int64_t a_step, std::int64_t b_step);
  std::size_t chunks() const { return chunks_.size(); }
  const ConvolutionRun* begin(std::size_t chunk) const { return runs_.data() + chunks_[chunk]; }
  const ConvolutionRun* end(std::size_t chunk) const {
    return runs_.data() + (chunk + 1 < chunks_.size() ? chunks_[chunk + 1] : runs_.size());
  }
  void clear() {
    runs_.clear();
    chunks_.clear();
  }

 private:
  PooledVector<ConvolutionRun> runs_;
  PooledVector<std::size_t> chunks_;
};

}  // namespace groove::kernels
