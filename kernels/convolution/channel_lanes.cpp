// Backward-weight with output channels in the lanes. For each chunk of k (256 output pixels in the
// order of images, rows, columns) the gradient is turned to [pixel][output channel] and the rows
// of the input that it meets to [pixel][input channel]; each tap of each input channel is then a
// row of sums, and the walk over k runs along rows of pixels. Pixels whose tap falls outside are
// in no run of that tap; where a tile holds several taps, runs name the rows that take part.
//
//   sums[tap, input channel][output channel] += input[pixel at tap][channel] * gradient[pixel]
#include <algorithm>
#include <cstring>

#include "kernels/contraction/pack.h"
#include "kernels/convolution/tiled.h"
#include "kernels/order.h"

namespace groove::kernels {
namespace {

// With fewer input channels than this a tile takes rows of several taps.
constexpr std::int64_t kChannelsOfOneTap = 8;
constexpr std::uint64_t kAllRows = ~std::uint64_t{0};

// Output columns that meet the same taps.
struct Segment {
  std::int64_t begin, end;
  std::uint64_t rows;
};

struct RowTile {
  std::int64_t begin, rows;  // rows are (tap, channel), the channel running fastest
  PooledVector<std::uint64_t> rows_of_tap_row;  // by kh: the rows of the tile whose tap lies there
  PooledVector<Segment> segments;
};

// The part of one image that lies in a chunk.
struct Piece {
  std::int64_t image, begin, end;  // output pixels of the image
  std::int64_t first_row, rows;    // of the input
  std::int64_t input;              // elements from the input's base to the first row
};

template <typename T>
class ChannelLanes {
 public:
  ChannelLanes(const ConvolutionCall& call, Isa isa, int parts)
      : call_(call), s_(call.shape), isa_(isa) {
    constexpr std::int64_t kHalf = 32 / sizeof(T);
    is_half_ = isa == Isa::kAvx512 && s_.out_channels <= kHalf;
    lanes_ = isa == Isa::kAvx512 && !is_half_ ? 2 * kHalf : kHalf;
    // One channel lies in memory as it is wanted.
    channel_row_ = s_.in_channels == 1 ? 1 : (s_.in_channels + 7) / 8 * 8;
    const std::int64_t vectors = (s_.out_channels + lanes_ - 1) / lanes_;
    const bool is_one_tap = s_.in_channels >= kChannelsOfOneTap;
    const std::int64_t rows = s_.in_channels * (is_one_tap ? 1 : s_.taps());
    tiling_ = choose_convolution_tiling(isa, rows, vectors);
    column_tiles_ = (vectors + tiling_.vectors - 1) / tiling_.vectors;
    vectors_ = vectors;
    divide_evenly(rows, s_.groups * column_tiles_ * (is_one_tap ? s_.taps() : 1), parts);
    for (std::int64_t tap = 0; tap < (is_one_tap ? s_.taps() : 1); ++tap) {
      for (std::int64_t tile = 0; tile < tiling_.tiles; ++tile) {
        const std::int64_t begin = tiling_.begin(tile, rows);
        tiles_.push_back({tap * rows + begin, tiling_.begin(tile + 1, rows) - begin, {}, {}});
      }
    }
  }

  void run(int part, int parts) {
    const std::int64_t row_tiles = static_cast<std::int64_t>(tiles_.size());
    const std::int64_t units = s_.groups * column_tiles_ * row_tiles;
    const std::int64_t begin = units * part / parts, end = units * (part + 1) / parts;
    if (begin == end) return;
    for (RowTile& tile : tiles_) describe(tile);
    const std::int64_t a_group = column_tiles_ * row_tiles;
    const std::int64_t most = std::min(end - begin, a_group);
    const ConvolutionScratch sums(static_cast<std::size_t>(most * sum_elements()) * sizeof(T));
    const std::int64_t gradient_elements = order::kContractionChunk * tiling_.vectors * lanes_;
    const ConvolutionScratch gradient(static_cast<std::size_t>(gradient_elements) * sizeof(T) + 64);
    const ConvolutionScratch input(static_cast<std::size_t>(most_input_elements()) * sizeof(T) +
                                   64);
    sums_ = sums.as<T>();
    gradient_ = gradient.as<T>();
    input_ = input.as<T>();
    // Lanes without a channel compute on zeros.
    std::memset(gradient_, 0, static_cast<std::size_t>(gradient_elements) * sizeof(T));
    for (std::int64_t group = begin / a_group; group * a_group < end; ++group) {
      const std::int64_t first = std::max(begin - group * a_group, std::int64_t{0});
      const std::int64_t last = std::min(end - group * a_group, a_group);
      const std::int64_t depth = s_.images * s_.out_plane();
      if (depth == 0) {
        std::memset(sums_, 0, static_cast<std::size_t>(most * sum_elements()) * sizeof(T));
      }
      for (std::int64_t k = 0; k < depth; k += order::kContractionChunk) {
        run_chunk(group, k, std::min(depth, k + order::kContractionChunk), first, last);
      }
      store(group, first, last);
    }
  }

 private:
  // Few tiles become as many as parts can share, while each has chains of sums enough to hide the
  // latency of fma. There are `times` tiles of each row tile.
  void divide_evenly(std::int64_t rows, std::int64_t times, int parts) {
    constexpr std::int64_t kLeastRows = 8, kFewTiles = 4;
    std::int64_t tiles = tiling_.tiles;
    while (times * tiles % parts != 0 && times * tiles < kFewTiles * parts) ++tiles;
    if (rows < kLeastRows * tiles) return;
    tiling_.tiles = tiles;
    tiling_.rows = (rows + tiles - 1) / tiles;
  }
  std::int64_t sum_elements() const { return tiling_.rows * tiling_.vectors * lanes_; }
  std::int64_t row_tiles() const { return static_cast<std::int64_t>(tiles_.size()); }
  // Vectors of a column tile.
  std::int64_t first_vector(std::int64_t tile) const { return vectors_ * tile / column_tiles_; }

  // Of a chunk: each piece has at most so many rows of the input.
  std::int64_t most_input_elements() const {
    if (s_.in_channels == 1) return 0;
    const std::int64_t plane = std::max<std::int64_t>(s_.out_plane(), 1);
    const std::int64_t images = (order::kContractionChunk + plane - 2) / plane + 1;
    const std::int64_t rows_out =
        std::min(s_.height.out, (order::kContractionChunk + s_.width.out - 2) /
                                        std::max<std::int64_t>(s_.width.out, 1) + 1);
    const std::int64_t rows = std::min(
        s_.height.in,
        (rows_out - 1) * s_.height.stride + (s_.height.kernel - 1) * s_.height.dilation + 1);
    return images * rows * s_.width.in * channel_row_;
  }

  std::int64_t tap_of(const RowTile& tile, std::int64_t r) const {
    return (tile.begin + r) / s_.in_channels;
  }
  bool has_several_taps(const RowTile& tile) const {
    return tap_of(tile, 0) != tap_of(tile, tile.rows - 1);
  }

  void describe(RowTile& tile) const {
    PooledVector<std::uint64_t> of_column(static_cast<std::size_t>(s_.width.kernel));
    tile.rows_of_tap_row.assign(static_cast<std::size_t>(s_.height.kernel), 0);
    for (std::int64_t r = 0; r < tile.rows; ++r) {
      const std::int64_t tap = tap_of(tile, r);
      tile.rows_of_tap_row[static_cast<std::size_t>(tap / s_.width.kernel)] |= std::uint64_t{1}
                                                                               << r;
      of_column[static_cast<std::size_t>(tap % s_.width.kernel)] |= std::uint64_t{1} << r;
    }
    for (std::int64_t ow = 0; ow < s_.width.out; ++ow) {
      std::uint64_t rows = 0;
      for (std::int64_t kw = 0; kw < s_.width.kernel; ++kw) {
        if (s_.width.source(ow, kw) >= 0) rows |= of_column[static_cast<std::size_t>(kw)];
      }
      if (!tile.segments.empty() && tile.segments.back().rows == rows) {
        tile.segments.back().end = ow + 1;
      } else {
        tile.segments.push_back({ow, ow + 1, rows});
      }
    }
    std::erase_if(tile.segments, [](const Segment& segment) { return segment.rows == 0; });
  }

  void run_chunk(std::int64_t group, std::int64_t begin, std::int64_t end, std::int64_t first,
                 std::int64_t last) {
    cut_pieces(group, begin, end);
    const std::int64_t tiles = row_tiles();
    for (std::int64_t unit = first; unit < last;) {
      const std::int64_t column_tile = unit / tiles;
      const std::int64_t vectors = first_vector(column_tile + 1) - first_vector(column_tile);
      turn_gradient(group, first_vector(column_tile), vectors);
      std::int64_t listed = -1;
      for (; unit < last && unit / tiles == column_tile; ++unit) {
        const RowTile& tile = tiles_[static_cast<std::size_t>(unit % tiles)];
        // Tiles of one tap differ in where their channels begin only.
        if (has_several_taps(tile) || listed != tap_of(tile, 0)) list_runs(tile, vectors);
        listed = has_several_taps(tile) ? -1 : tap_of(tile, 0);
        const T* base = s_.in_channels == 1 ? static_cast<const T*>(call_.b) : input_;
        const ConvolutionTileArguments arguments{
            base + origin(tile), gradient_,    sums_ + (unit - first) * sum_elements(),
            runs_.begin(0),      runs_.end(0), begin > 0};
        find_tile(tile, vectors)(&arguments);
      }
    }
  }

  // From an output pixel's corner in the turned input to what row 0 of the tile reads.
  std::int64_t row_offset(std::int64_t row) const {
    const std::int64_t tap = row / s_.in_channels, c = row % s_.in_channels;
    const std::int64_t kh = tap / s_.width.kernel, kw = tap % s_.width.kernel;
    return (kh * s_.height.dilation * s_.width.in + kw * s_.width.dilation) * channel_row_ + c;
  }
  std::int64_t origin(const RowTile& tile) const { return row_offset(tile.begin); }

  void cut_pieces(std::int64_t group, std::int64_t begin, std::int64_t end) {
    const std::int64_t plane = s_.out_plane(), width = s_.width.out;
    pieces_.clear();
    std::int64_t filled = 0;
    for (std::int64_t k = begin; k < end;) {
      Piece piece{};
      piece.image = k / plane;
      piece.begin = k % plane;
      piece.end = std::min(plane, piece.begin + end - k);
      k += piece.end - piece.begin;
      const ConvolutionAxis& h = s_.height;
      const std::int64_t first = piece.begin / width * h.stride - h.padding;
      const std::int64_t last =
          (piece.end - 1) / width * h.stride - h.padding + (h.kernel - 1) * h.dilation;
      piece.first_row = std::clamp<std::int64_t>(first, 0, h.in);
      piece.rows = std::clamp<std::int64_t>(last + 1, piece.first_row, h.in) - piece.first_row;
      const std::int64_t source =
          ((piece.image * s_.groups + group) * s_.in_channels) * s_.in_plane() +
          piece.first_row * s_.width.in;
      if (s_.in_channels == 1) {
        piece.input = source;
      } else {
        piece.input = filled;
        const std::int64_t pixels = piece.rows * s_.width.in;
        transpose(static_cast<const T*>(call_.b) + source, s_.in_plane(), input_ + filled,
                  channel_row_, s_.in_channels, pixels, true);
        filled += pixels * channel_row_;
      }
      pieces_.push_back(piece);
    }
  }

  void turn_gradient(std::int64_t group, std::int64_t vector, std::int64_t vectors) const {
    const std::int64_t row = vectors * lanes_, first = vector * lanes_;
    const std::int64_t channels = std::min(row, s_.out_channels - first);
    T* to = gradient_;
    for (const Piece& piece : pieces_) {
      const T* from = static_cast<const T*>(call_.a) +
                      ((piece.image * s_.groups + group) * s_.out_channels + first) *
                          s_.out_plane() +
                      piece.begin;
      transpose(from, s_.out_plane(), to, row, channels, piece.end - piece.begin, true);
      to += (piece.end - piece.begin) * row;
    }
  }

  void list_runs(const RowTile& tile, std::int64_t vectors) {
    constexpr std::int64_t size = sizeof(T);
    const std::int64_t width = s_.width.out, a_step = a_step_bytes(),
                       b_step = vectors * lanes_ * size;
    const std::uint64_t whole =
        tile.rows == 64 ? kAllRows : (std::uint64_t{1} << tile.rows) - 1;
    runs_.clear();
    runs_.begin_chunk();
    std::int64_t done = 0;  // pixels of the pieces before
    for (const Piece& piece : pieces_) {
      for (std::int64_t oh = piece.begin / width; oh * width < piece.end; ++oh) {
        std::uint64_t of_row = 0;
        for (std::int64_t kh = 0; kh < s_.height.kernel; ++kh) {
          if (s_.height.source(oh, kh) >= 0)
            of_row |= tile.rows_of_tap_row[static_cast<std::size_t>(kh)];
        }
        const std::int64_t begin = std::max(piece.begin - oh * width, std::int64_t{0});
        const std::int64_t end = std::min(piece.end - oh * width, width);
        for (const Segment& segment : tile.segments) {
          const std::int64_t from = std::max(begin, segment.begin);
          const std::int64_t to = std::min(end, segment.end);
          const std::uint64_t rows = segment.rows & of_row;
          if (from >= to || rows == 0) continue;
          const std::int64_t pixel =
              (oh * s_.height.stride - s_.height.padding - piece.first_row) * s_.width.in +
              from * s_.width.stride - s_.width.padding;
          runs_.add({(piece.input + pixel * channel_row_) * size,
                   (done + oh * width + from - piece.begin) * b_step, to - from,
                   rows == whole ? kAllRows : rows},
                  a_step, b_step);
        }
      }
      done += piece.end - piece.begin;
    }
  }
  std::int64_t a_step_bytes() const {
    return s_.width.stride * channel_row_ * std::int64_t{sizeof(T)};
  }

  ConvolutionTile find_tile(const RowTile& tile, std::int64_t vectors) {
    constexpr std::int64_t size = sizeof(T);
    ConvolutionTileSpec spec{.dtype = call_.dtype, .isa = isa_, .is_half = is_half_};
    spec.has_row_masks = has_several_taps(tile);
    spec.a_step = a_step_bytes();
    spec.b_step = vectors * lanes_ * size;
    spec.sum_row = tiling_.vectors * lanes_ * size;
    spec.sum_vector = lanes_ * size;
    for (std::int64_t r = 0; r < tile.rows; ++r) {
      spec.a_offsets.push_back(
          static_cast<std::int32_t>((row_offset(tile.begin + r) - origin(tile)) * size));
    }
    for (std::int64_t v = 0; v < vectors; ++v) {
      spec.b_offsets.push_back(static_cast<std::int32_t>(v * lanes_ * size));
    }
    return find_convolution_tile(spec);
  }

  void store(std::int64_t group, std::int64_t first, std::int64_t last) const {
    const std::int64_t tiles = row_tiles(), row_length = tiling_.vectors * lanes_;
    T* result = static_cast<T*>(call_.result) +
                group * s_.out_channels * s_.in_channels * s_.taps();
    for (std::int64_t unit = first; unit < last; ++unit) {
      const RowTile& tile = tiles_[static_cast<std::size_t>(unit % tiles)];
      const T* sums = sums_ + (unit - first) * sum_elements();
      const std::int64_t o = first_vector(unit / tiles) * lanes_;
      const std::int64_t channels = std::min(first_vector(unit / tiles + 1) * lanes_,
                                             s_.out_channels) - o;
      for (std::int64_t r = 0; r < tile.rows; ++r) {
        const std::int64_t tap = tap_of(tile, r), c = (tile.begin + r) % s_.in_channels;
        T* target = result + (o * s_.in_channels + c) * s_.taps() + tap;
        for (std::int64_t lane = 0; lane < channels; ++lane) {
          target[lane * s_.in_channels * s_.taps()] = sums[r * row_length + lane];
        }
      }
    }
  }

  const ConvolutionCall& call_;
  const ConvolutionShape& s_;
  const Isa isa_;
  bool is_half_ = false;
  std::int64_t lanes_ = 1, channel_row_ = 1, vectors_ = 1, column_tiles_ = 1;
  ConvolutionTiling tiling_;
  PooledVector<RowTile> tiles_;
  PooledVector<Piece> pieces_;
  ConvolutionRuns runs_;
  T *sums_ = nullptr, *gradient_ = nullptr, *input_ = nullptr;
};

}  // namespace

template <typename T>
void run_channel_lanes(const ConvolutionCall& call, Isa isa, int part, int parts) {
  ChannelLanes<T>(call, isa, parts).run(part, parts);
}
template void run_channel_lanes<float>(const ConvolutionCall&, Isa, int, int);
template void run_channel_lanes<double>(const ConvolutionCall&, Isa, int, int);

}  // namespace groove::kernels
