#include <cstring>

#include "src/core/check.h"
#include "src/data/image_file.h"

namespace groove::data {
namespace {

constexpr std::uint64_t kFileHeader = 14, kInfoHeader = 40;

class BmpReader {
 public:
  BmpReader(std::string_view bytes, const std::string& file) : bytes_(bytes), file_(file) {}

  Image read() const {
    const auto header = number<std::uint32_t>(kFileHeader);
    check(header >= kInfoHeader, "has an old header");
    const std::int64_t columns = number<std::int32_t>(18), signed_rows = number<std::int32_t>(22);
    const std::int64_t rows = signed_rows < 0 ? -signed_rows : signed_rows;
    const auto bits = number<std::uint16_t>(28);
    const auto packing = number<std::uint32_t>(30);
    check(columns > 0 && rows > 0, "has no pixels");
    check(bits == 8 || bits == 24 || bits == 32, fmt::format("has {} bits for a pixel", bits));
    check(packing == kPlain || (packing == kMasks && bits == 32 && has_usual_masks()),
          fmt::format("is packed in way {}", packing));
    const std::uint64_t palette = kFileHeader + std::uint64_t{header},
                        colours = bits == 8 ? colours_of(palette) : 0;
    // Rows end at multiples of 4 bytes; 2^31 columns of 32 bits stay far below 2^63.
    const std::uint64_t pixel_bytes = bits / 8u, begin = number<std::uint32_t>(10),
                        stride = (static_cast<std::uint64_t>(columns) * pixel_bytes + 3) / 4 * 4;
    std::uint64_t wanted = 0;
    check(begin <= bytes_.size() &&
              !__builtin_mul_overflow(stride, static_cast<std::uint64_t>(rows), &wanted) &&
              wanted <= bytes_.size() - begin,
          fmt::format("is cut short: {} x {} pixels in {} bytes", columns, rows, bytes_.size()));

    Image image{bits == 8 && is_grey(palette, colours) ? 1 : 3, rows, columns, {}};
    const auto width = static_cast<std::uint64_t>(columns),
               height = static_cast<std::uint64_t>(rows),
               channels = static_cast<std::uint64_t>(image.channels);
    image.values.resize(channels * width * height);
    for (std::uint64_t row = 0; row < height; ++row) {
      const std::uint64_t line = begin + (signed_rows < 0 ? row : height - 1 - row) * stride;
      for (std::uint64_t column = 0; column < width; ++column) {
        std::uint64_t pixel = line + column * pixel_bytes;
        if (bits == 8) {
          const std::uint64_t colour = byte(pixel);
          if (colour >= colours) check(false, fmt::format("has no colour {}", colour));
          pixel = palette + 4 * colour;
        }
        // A pixel is blue, green, red.
        for (std::uint64_t channel = 0; channel < channels; ++channel)
          image.values[(channel * height + row) * width + column] = byte(pixel + 2 - channel);
      }
    }
    return image;
  }

 private:
  static constexpr std::uint32_t kPlain = 0, kMasks = 3;
  void check(bool is_good, const std::string& what) const {
    GROOVE_CHECK(is_good,
                 "read_image: {}: {}; Groove reads BMP files of 8, 24 and 32 bits that are not "
                 "compressed",
                 file_, what);
  }
  template <typename T>
  T number(std::uint64_t at) const {
    T value{};
    check(at + sizeof value <= bytes_.size(), "ends within its header");
    std::memcpy(&value, bytes_.data() + at, sizeof value);
    return value;
  }
  std::uint8_t byte(std::uint64_t at) const { return static_cast<std::uint8_t>(bytes_[at]); }
  bool has_usual_masks() const {
    return number<std::uint32_t>(54) == 0xff0000 && number<std::uint32_t>(58) == 0xff00 &&
           number<std::uint32_t>(62) == 0xff;
  }
  std::uint64_t colours_of(std::uint64_t palette) const {
    const auto told = number<std::uint32_t>(46);
    const std::uint64_t count = told == 0 ? 256 : told;
    check(count <= 256 && palette + 4 * count <= bytes_.size(),
          fmt::format("has {} colours, which do not fit in", count));
    return count;
  }
  bool is_grey(std::uint64_t palette, std::uint64_t colours) const {
    for (std::uint64_t at = palette; at < palette + 4 * colours; at += 4)
      if (byte(at) != byte(at + 1) || byte(at) != byte(at + 2)) return false;
    return true;
  }

  std::string_view bytes_;
  const std::string& file_;
};

}  // namespace

Image parse_bmp(std::string_view bytes, const std::string& file) {
  return BmpReader(bytes, file).read();
}

}  // namespace groove::data
