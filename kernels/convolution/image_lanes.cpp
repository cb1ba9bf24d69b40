// Forward and backward-data with images in the lanes. A band of input rows of 16 (8, 4) images is
// turned to [row][column][channel][image], once; rows that the next band reads too stay where they
// lie, in a ring. Then every tap of every output pixel is a vector load, k walks memory in its own
// order, and a skipped tap is skipped by all lanes at once, so padding, strides and dilation cost
// nothing and no masks exist.
//
//   sums[channel of the result][pixel][image] += weight[channel][k] * turned[k at pixel][image]
//
// Where images are too few to fill the lanes, lanes hold strips of one image instead: rows of the
// result that padding does not reach all use the same taps, so equal numbers of them can run side
// by side. The rows around them are done one lane wide.
#include <algorithm>
#include <cstring>

#include "kernels/contraction/epilogue.h"
#include "kernels/contraction/pack.h"
#include "kernels/convolution/tiled.h"
#include "kernels/order.h"
#include "src/core/faults.h"

namespace groove::kernels {
namespace {

constexpr std::int64_t kBandBytes = 384 << 10;  // turned input that stays in the second-level cache
constexpr std::int64_t kSumBytes = 192 << 10;
constexpr std::int64_t kBlockBytes = 16 << 10;  // that an epilogue finds in the nearest cache

// One axis, seen from the result: which element of the gathered tensor a tap reads.
struct GatherAxis {
  GatherAxis(const ConvolutionAxis& axis, bool is_backward)
      : axis(axis),
        is_backward(is_backward),
        in(is_backward ? axis.out : axis.in),
        out(is_backward ? axis.in : axis.out),
        period(is_backward ? axis.stride : 1),
        advance(is_backward ? 1 : axis.stride) {}
  std::int64_t source(std::int64_t o, std::int64_t tap) const {
    return is_backward ? axis.target(o, tap) : axis.source(o, tap);
  }
  ConvolutionAxis axis;
  bool is_backward;
  std::int64_t in, out;
  /// Whether padding (or the other edge) takes a tap away.
  bool is_clipped(std::int64_t o) const {
    for (std::int64_t tap = 0; tap < axis.kernel; ++tap) {
      const bool may_exist =
          !is_backward || (o + axis.padding - tap * axis.dilation) % axis.stride == 0;
      if (may_exist && source(o, tap) < 0) return true;
    }
    return false;
  }
  // Outputs `period` apart read inputs `advance` apart, as long as both exist.
  std::int64_t period, advance;
};

struct Tap {
  std::int64_t tap, source;
};
// Neighbours (`period` apart) along an axis that use the same taps.
struct Stretch {
  std::int64_t first, count;
  PooledVector<Tap> taps;  // of the first; ascending
};

// Rows [first, first + count * height) of the result, as `count` strips.
struct Strips {
  std::int64_t first = 0, height = 0, count = 0;
  /// The rows of an image when those of all strips are done at once.
  std::int64_t rows(std::int64_t all) const {
    return count == 0 ? all : all - (count - 1) * height;
  }
};

Strips find_strips(const GatherAxis& axis, std::int64_t lanes) {
  Strips best;
  std::int64_t first = 0, end = axis.out;
  while (first < end && axis.is_clipped(first)) ++first;
  end = first;
  while (end < axis.out && !axis.is_clipped(end)) ++end;
  // Heights are whole periods, so that each strip meets strides as the first one does.
  for (std::int64_t height = axis.period; 2 * height <= end - first; height += axis.period) {
    const Strips strips{first, height, std::min(lanes, (end - first) / height)};
    if (strips.rows(axis.out) < best.rows(axis.out)) best = strips;
  }
  return best;
}

PooledVector<Tap> taps_of(const GatherAxis& axis, std::int64_t o) {
  PooledVector<Tap> taps;
  for (std::int64_t tap = 0; tap < axis.axis.kernel; ++tap) {
    if (const std::int64_t source = axis.source(o, tap); source >= 0) taps.push_back({tap, source});
  }
  return taps;
}

PooledVector<Stretch> stretches(const GatherAxis& axis) {
  PooledVector<Stretch> result;
  for (std::int64_t phase = 0; phase < std::min(axis.period, axis.out); ++phase) {
    bool is_first = true;
    for (std::int64_t o = phase; o < axis.out; o += axis.period, is_first = false) {
      PooledVector<Tap> taps = taps_of(axis, o);
      bool goes_on = !is_first && taps.size() == result.back().taps.size();
      for (std::size_t i = 0; goes_on && i < taps.size(); ++i) {
        const Tap& first = result.back().taps[i];
        goes_on = taps[i].tap == first.tap &&
                  taps[i].source == first.source + result.back().count * axis.advance;
      }
      if (goes_on) {
        ++result.back().count;
      } else {
        result.push_back({o, 1, std::move(taps)});
      }
    }
  }
  return result;
}

template <typename T>
class ImageLanes {
 public:
  ImageLanes(const ConvolutionCall& call, Isa isa)
      : call_(call),
        shape_(call.shape),
        isa_(isa),
        is_backward_(call.form == ConvolutionForm::kBackwardData),
        height_(shape_.height, is_backward_),
        width_(shape_.width, is_backward_),
        from_channels_(is_backward_ ? shape_.out_channels : shape_.in_channels),
        to_channels_(is_backward_ ? shape_.in_channels : shape_.out_channels),
        depth_(shape_.taps() * from_channels_),
        columns_(stretches(width_)) {
    constexpr std::int64_t kHalf = 32 / sizeof(T);
    is_half_ = isa == Isa::kAvx512 && shape_.images <= kHalf;
    lanes_ = isa == Isa::kAvx512 && !is_half_ ? 2 * kHalf : kHalf;
    std::int64_t longest = 1;
    for (const Stretch& stretch : columns_) longest = std::max(longest, stretch.count);
    tiling_ = choose_convolution_tiling(isa, to_channels_, longest);
    band_rows_ = band_rows();
    ring_rows_ = most_source_rows(band_rows_);
    tiles_.resize(static_cast<std::size_t>((tiling_.rows + 1) * (kMaxConvolutionVectors + 1)));
    strips_ = find_strips(height_, lanes_);
    if (shape_.images > lanes_ || shape_.images * strips_.rows(height_.out) >= height_.out)
      strips_ = {};
  }

  void run(int part, int parts) {
    const std::int64_t blocks =
        strips_.count > 0 ? shape_.images : (shape_.images + lanes_ - 1) / lanes_;
    const std::int64_t all_rows = strips_.rows(height_.out);
    if (blocks == 0 || height_.out == 0 || width_.out == 0) return;
    const auto cut = [&](std::int64_t size, int at) { return size * at / parts; };
    // Heavy weights are packed by one part each; otherwise a part does all channels of its rows.
    const bool splits_channels =
        tiling_.tiles >= parts &&
        to_channels_ * depth_ > shape_.images * from_channels_ * height_.in * width_.in;
    std::int64_t first_tile = 0, end_tile = tiling_.tiles;
    std::int64_t unit = 0, end = shape_.groups * blocks * all_rows;
    if (splits_channels) {
      first_tile = cut(tiling_.tiles, part);
      end_tile = cut(tiling_.tiles, part + 1);
    } else {
      unit = cut(end, part);
      end = cut(end, part + 1);
    }
    if (unit >= end || first_tile >= end_tile) return;
    const ConvolutionScratch weights(
        static_cast<std::size_t>((end_tile - first_tile) * depth_ * tiling_.rows) * sizeof(T) + 64);
    const ConvolutionScratch turned(static_cast<std::size_t>(turned_elements()) * sizeof(T) + 64);
    const ConvolutionScratch sums(
        static_cast<std::size_t>(tiling_.rows * band_rows_ * width_.out * lanes_) * sizeof(T) + 64);
    const ConvolutionScratch block(
        static_cast<std::size_t>(call_.epilogue ? block_channels() * lanes_ * band_pixels() : 0) *
            sizeof(T) +
        64);
    block_ = block.as<T>();
    weights_ = weights.as<T>();
    turned_ = turned.as<T>();
    sums_ = sums.as<T>();
    std::int64_t packed = -1;
    while (unit < end) {
      const std::int64_t row = unit % all_rows, block = unit / all_rows % blocks;
      const std::int64_t group = unit / all_rows / blocks;
      const bool is_strip = row >= strips_.first && row < strips_.first + strips_.height;
      const std::int64_t stretch_end = is_strip              ? strips_.first + strips_.height
                                       : row < strips_.first ? strips_.first
                                                             : all_rows;
      const std::int64_t rows = std::min({stretch_end - row, end - unit, band_rows_});
      const bool is_behind = row >= strips_.first + strips_.height && strips_.count > 0;
      if (packed != group) pack_weights(group, first_tile, end_tile);
      packed = group;
      run_band(lanes_of(group, block, is_strip),
               is_behind ? row + (strips_.count - 1) * strips_.height : row, rows, first_tile,
               end_tile);
      unit += rows;
    }
  }

 private:
  // Where lane 0 begins in the gathered tensor and in the result (channel 0 of the group, row 0),
  // and how far the other lanes are.
  struct Lanes {
    const T* source;
    T* target;
    std::int64_t source_step, target_step, count;
    std::int64_t image, first_channel;  // of lane 0
    bool is_strip;
  };
  Lanes lanes_of(std::int64_t group, std::int64_t block, bool is_strip) const {
    const std::int64_t from_image = shape_.groups * from_channels_ * height_.in * width_.in;
    const std::int64_t to_image = shape_.groups * to_channels_ * height_.out * width_.out;
    const std::int64_t image = strips_.count > 0 ? block : block * lanes_;
    const std::int64_t from_group = group * from_channels_ * height_.in * width_.in;
    const std::int64_t to_group = group * to_channels_ * height_.out * width_.out;
    Lanes lanes{static_cast<const T*>(call_.a) + image * from_image + from_group,
                static_cast<T*>(call_.result) + image * to_image + to_group,
                from_image,
                to_image,
                strips_.count > 0 ? 1 : std::min(lanes_, shape_.images - image),
                image,
                group * to_channels_,
                is_strip};
    if (is_strip) {
      lanes.count = strips_.count;
      lanes.source_step = strips_.height / height_.period * height_.advance * width_.in;
      lanes.target_step = strips_.height * width_.out;
    }
    return lanes;
  }

  // Rows of the result whose sources and sums fit the cache.
  std::int64_t band_rows() const {
    const std::int64_t source_row = width_.in * from_channels_ * lanes_ * std::int64_t{sizeof(T)};
    const std::int64_t sum_row = tiling_.rows * width_.out * lanes_ * std::int64_t{sizeof(T)};
    std::int64_t rows = 1;
    while (rows < height_.out && most_source_rows(rows + 1) * source_row <= kBandBytes &&
           (rows + 1) * sum_row <= kSumBytes) {
      ++rows;
    }
    return rows;
  }
  std::int64_t most_source_rows(std::int64_t rows) const {
    const ConvolutionAxis& axis = height_.axis;
    const std::int64_t reach = (axis.kernel - 1) * axis.dilation;
    const std::int64_t count =
        is_backward_ ? (rows - 1 + reach) / axis.stride + 2 : (rows - 1) * axis.stride + reach + 1;
    return std::min(count, height_.in);
  }
  std::int64_t turned_elements() const { return ring_rows_ * width_.in * from_channels_ * lanes_; }

  // [tile][k][row of the tile], k in its own order.
  void pack_weights(std::int64_t group, std::int64_t first_tile, std::int64_t end_tile) const {
    const std::int64_t taps = shape_.taps(), in = shape_.in_channels;
    const std::int64_t to_stride = is_backward_ ? taps : in * taps;
    const std::int64_t from_stride = is_backward_ ? in * taps : taps;
    const T* weight = static_cast<const T*>(call_.b) + group * shape_.out_channels * in * taps;
    for (std::int64_t tile = first_tile; tile < end_tile; ++tile) {
      T* packed = weights_ + (tile - first_tile) * depth_ * tiling_.rows;
      const std::int64_t begin = tiling_.begin(tile, to_channels_);
      const std::int64_t rows = tiling_.begin(tile + 1, to_channels_) - begin;
      for (std::int64_t c = 0; c < from_channels_; ++c) {
        for (std::int64_t tap = 0; tap < taps; ++tap) {
          const T* source = weight + begin * to_stride + c * from_stride + tap;
          T* target = packed + (tap * from_channels_ + c) * tiling_.rows;
          for (std::int64_t r = 0; r < rows; ++r) target[r] = source[r * to_stride];
        }
      }
    }
  }

  // [row][column][channel][image] of the source rows from `first` on that do not lie there yet.
  void turn(const Lanes& lanes, std::int64_t first, std::int64_t rows) {
    const std::int64_t end = first + rows;
    const bool is_other = lanes.source != held_.source || lanes.source_step != held_.source_step ||
                          lanes.count != held_.count;
    if (is_other || end <= held_first_ || first >= held_end_) {
      turn_rows(lanes, first, end);
    } else {
      turn_rows(lanes, first, held_first_);
      turn_rows(lanes, held_end_, end);
    }
    held_ = lanes;
    held_first_ = first;
    held_end_ = end;
  }
  void turn_rows(const Lanes& lanes, std::int64_t first, std::int64_t end) const {
    const std::int64_t plane = height_.in * width_.in, row = width_.in * from_channels_ * lanes_;
    while (first < end) {
      const std::int64_t at = first % ring_rows_, rows = std::min(end - first, ring_rows_ - at);
      T* const to = turned_ + at * row;
      if (lanes.count < lanes_)  // the other lanes compute on zeros
        std::memset(to, 0, static_cast<std::size_t>(rows * row) * sizeof(T));
      for (std::int64_t c = 0; c < from_channels_; ++c) {
        transpose(lanes.source + c * plane + first * width_.in, lanes.source_step, to + c * lanes_,
                  from_channels_ * lanes_, lanes.count, rows * width_.in, true);
      }
      first += rows;
    }
  }

  // The runs of k at one row and the first column of a stretch.
  void list_runs(const PooledVector<Tap>& rows, const PooledVector<Tap>& columns,
                 ConvolutionRuns& runs) const {
    constexpr std::int64_t kChunk = order::kContractionChunk;
    constexpr std::int64_t size = sizeof(T);
    std::int64_t chunk = -1;
    const auto enter = [&](std::int64_t wanted) {
      for (; chunk < wanted; ++chunk) runs.begin_chunk();
    };
    enter(0);
    for (const Tap& row : rows) {
      for (const Tap& column : columns) {
        std::int64_t k = (row.tap * width_.axis.kernel + column.tap) * from_channels_;
        std::int64_t b =
            (row.source % ring_rows_ * width_.in + column.source) * from_channels_ * lanes_ * size;
        for (const std::int64_t end = k + from_channels_; k < end;) {
          enter(k / kChunk);
          const std::int64_t count = std::min(end, (k / kChunk + 1) * kChunk) - k;
          runs.add({k * tiling_.rows * size, b, count}, tiling_.rows * size, lanes_ * size);
          k += count;
          b += count * lanes_ * size;
        }
      }
    }
    enter((depth_ - 1) / kChunk);
  }

  // The runs of all rows and stretches of a band, and the source rows that they read. Other images
  // and groups walk the same way.
  void list_band(std::int64_t row, std::int64_t rows) {
    if (listed_row_ == row && listed_rows_ == rows) return;
    listed_row_ = row;
    listed_rows_ = rows;
    std::int64_t first = height_.in, last = -1;
    PooledVector<PooledVector<Tap>> row_taps;
    for (std::int64_t r = row; r < row + rows; ++r) {
      row_taps.push_back(taps_of(height_, r));
      for (const Tap& tap : row_taps.back()) {
        first = std::min(first, tap.source);
        last = std::max(last, tap.source);
      }
    }
    first_source_ = first;
    source_rows_ = std::max<std::int64_t>(last - first + 1, 0);
    runs_.resize(row_taps.size() * columns_.size());
    std::size_t next = 0;
    for (const PooledVector<Tap>& taps : row_taps) {
      for (const Stretch& stretch : columns_) {
        runs_[next].clear();
        list_runs(taps, stretch.taps, runs_[next++]);
      }
    }
  }

  void run_band(const Lanes& lanes, std::int64_t row, std::int64_t rows, std::int64_t first_tile,
                std::int64_t end_tile) {
    list_band(row, rows);
    if (source_rows_ > 0) turn(lanes, first_source_, source_rows_);
    for (std::int64_t tile = first_tile; tile < end_tile; ++tile) {
      const std::int64_t channel = tiling_.begin(tile, to_channels_);
      const std::int64_t channels = tiling_.begin(tile + 1, to_channels_) - channel;
      run_tile(weights_ + (tile - first_tile) * depth_ * tiling_.rows, channels, rows);
      if (call_.epilogue) {
        hand_over(lanes, channel, channels, row, rows);
      } else {
        store(lanes, channel, channels, row, rows);
      }
    }
  }

  // All chunks of all pixels of a band, for the channels of one tile.
  void run_tile(const T* weights, std::int64_t channels, std::int64_t rows) {
    ConvolutionTile* const tiles =
        tiles_.data() + channels * std::int64_t{kMaxConvolutionVectors + 1};
    const std::int64_t step = width_.advance * from_channels_ * lanes_;  // a neighbour's distance
    for (std::size_t chunk = 0; chunk < runs_.front().chunks(); ++chunk) {
      for (std::int64_t row = 0; row < rows; ++row) {
        for (std::size_t s = 0; s < columns_.size(); ++s) {
          const Stretch& stretch = columns_[s];
          const ConvolutionRuns& list = runs_[static_cast<std::size_t>(row) * columns_.size() + s];
          const std::int64_t groups = (stretch.count + tiling_.vectors - 1) / tiling_.vectors;
          for (std::int64_t g = 0; g < groups; ++g) {
            const std::int64_t at = stretch.count * g / groups;
            const std::int64_t vectors = stretch.count * (g + 1) / groups - at;
            ConvolutionTile& tile = tiles[vectors];
            if (!tile) tile = find_tile(channels, vectors);
            const std::int64_t pixel = row * width_.out + stretch.first + at * width_.period;
            const ConvolutionTileArguments arguments{
                weights,           turned_ + at * step, sums_ + pixel * lanes_,
                list.begin(chunk), list.end(chunk),     chunk > 0};
            tile(&arguments);
          }
        }
      }
    }
  }

  ConvolutionTile find_tile(std::int64_t rows, std::int64_t vectors) const {
    constexpr std::int64_t size = sizeof(T);
    ConvolutionTileSpec spec{.dtype = call_.dtype, .isa = isa_, .is_half = is_half_};
    spec.a_step = tiling_.rows * size;
    spec.b_step = lanes_ * size;
    spec.sum_row = band_rows_ * width_.out * lanes_ * size;
    spec.sum_vector = width_.period * lanes_ * size;
    for (std::int64_t r = 0; r < rows; ++r) {
      spec.a_offsets.push_back(static_cast<std::int32_t>(r * size));
    }
    for (std::int64_t v = 0; v < vectors; ++v) {
      spec.b_offsets.push_back(
          static_cast<std::int32_t>(v * width_.advance * from_channels_ * lanes_ * size));
    }
    return find_convolution_tile(spec);
  }

  void store(const Lanes& lanes, std::int64_t channel, std::int64_t channels, std::int64_t row,
             std::int64_t rows) const {
    const std::int64_t plane = height_.out * width_.out;
    for (std::int64_t r = 0; r < channels; ++r) {
      transpose(sums_ + r * band_rows_ * width_.out * lanes_, lanes_,
                lanes.target + (channel + r) * plane + row * width_.out, lanes.target_step,
                rows * width_.out, lanes.count, false);
    }
  }

  std::int64_t band_pixels() const { return band_rows_ * width_.out; }
  // Channels that an epilogue is given at a time.
  std::int64_t block_channels() const {
    const std::int64_t bytes = lanes_ * band_pixels() * std::int64_t{sizeof(T)};
    return std::clamp<std::int64_t>(kBlockBytes / std::max<std::int64_t>(bytes, 1), 1,
                                    tiling_.rows);
  }

  // Sums of a few channels at a time are turned to [lane][channel][pixel] for the epilogue.
  void hand_over(const Lanes& lanes, std::int64_t channel, std::int64_t channels, std::int64_t row,
                 std::int64_t rows) const {
    const std::int64_t pixels = rows * width_.out;
    SumBlock block{.sums = block_, .row_stride = pixels, .batch = lanes.image, .cols = pixels};
    for (std::int64_t first = 0; first < channels; first += block.rows) {
      block.rows = std::min(block_channels(), channels - first);
      const std::int64_t lane = block.rows * pixels;
      for (std::int64_t r = 0; r < block.rows; ++r) {
        transpose(sums_ + (first + r) * band_pixels() * lanes_, lanes_, block_ + r * pixels, lane,
                  pixels, lanes.count, false);
      }
      block.row = lanes.first_channel + channel + first;
      if (has_fault(Fault::kChannelsNotCounted)) block.row = lanes.first_channel + channel;
      block.col = row * width_.out;
      if (!lanes.is_strip) {
        block.sums = block_;
        block.batches = lanes.count;
        block.batch_stride = lane;
        finish(block);
        continue;
      }
      for (std::int64_t strip = 0; strip < lanes.count; ++strip) {
        block.sums = block_ + strip * lane;
        if (!has_fault(Fault::kStripsOverlap))
          block.col = (row + strip * strips_.height) * width_.out;
        finish(block);
      }
    }
  }
  void finish(const SumBlock& block) const {
    call_.epilogue->epilogue.run(call_.epilogue->launch, block);
  }

  const ConvolutionCall& call_;
  const ConvolutionShape& shape_;
  const Isa isa_;
  const bool is_backward_;
  const GatherAxis height_, width_;
  const std::int64_t from_channels_, to_channels_, depth_;
  const PooledVector<Stretch> columns_;
  bool is_half_ = false;
  std::int64_t lanes_ = 1, band_rows_ = 1;
  std::int64_t ring_rows_ = 1;  // of the turned input
  ConvolutionTiling tiling_;
  PooledVector<ConvolutionTile> tiles_;  // [rows][vectors], once they were wanted
  Strips strips_;
  Lanes held_{};  // whose rows from `held_first_` to `held_end_` lie turned
  std::int64_t held_first_ = 0, held_end_ = 0;
  std::int64_t listed_row_ = -1, listed_rows_ = 0;
  std::int64_t first_source_ = 0, source_rows_ = 0;  // of the listed band
  PooledVector<ConvolutionRuns> runs_;               // [row of the band][stretch]
  T *weights_ = nullptr, *turned_ = nullptr, *sums_ = nullptr, *block_ = nullptr;
};

}  // namespace

template <typename T>
void run_image_lanes(const ConvolutionCall& call, Isa isa, int part, int parts) {
  ImageLanes<T>(call, isa).run(part, parts);
}
template void run_image_lanes<float>(const ConvolutionCall&, Isa, int, int);
template void run_image_lanes<double>(const ConvolutionCall&, Isa, int, int);

}  // namespace groove::kernels
