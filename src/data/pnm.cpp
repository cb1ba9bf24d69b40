#include <algorithm>

#include "src/core/check.h"
#include "src/data/image_file.h"

namespace groove::data {
namespace {

class PnmReader {
 public:
  PnmReader(std::string_view bytes, const std::string& file) : bytes_(bytes), file_(file) {}

  Image read() {
    const char kind = bytes_[1];
    const bool is_text = kind == '2' || kind == '3';
    at_ = 2;
    Image image;
    image.channels = kind == '3' || kind == '6' ? 3 : 1;
    image.width = number("width");
    image.height = number("height");
    const std::uint64_t most = number("depth");
    if (most == 0 || most > kMostDepth) fail(fmt::format("has a depth of {}", most));
    // One blank behind the header; numbers in a text have one before each of them.
    if (at_ == bytes_.size() || !is_blank(bytes_[at_])) fail("ends within its header");
    ++at_;
    const std::uint64_t width = !is_text && most > 255 ? 2 : 1, left = bytes_.size() - at_;
    const auto columns = static_cast<std::uint64_t>(image.width),
               rows = static_cast<std::uint64_t>(image.height);
    std::uint64_t count = 0, wanted = 0;
    const bool fits =
        !__builtin_mul_overflow(columns, rows, &count) &&
        !__builtin_mul_overflow(count, static_cast<std::uint64_t>(image.channels), &count) &&
        !__builtin_mul_overflow(count, width, &wanted) && wanted <= left;
    if (!fits) fail(fmt::format("is cut short: {} x {} pixels in {} bytes", columns, rows, left));

    image.values.resize(count);
    const std::uint64_t plane = columns * rows;
    const auto channels = static_cast<std::uint64_t>(image.channels);
    for (std::uint64_t pixel = 0; pixel < plane; ++pixel)
      for (std::uint64_t channel = 0; channel < channels; ++channel) {
        const std::uint64_t value = is_text ? number("value") : binary(width);
        if (value > most) fail(fmt::format("has the value {} with a depth of {}", value, most));
        image.values[channel * plane + pixel] =
            static_cast<std::uint8_t>((value * 255 + most / 2) / most);
      }
    return image;
  }

 private:
  static constexpr std::uint64_t kMostDepth = 65535, kMostNumber = 1u << 30;
  [[noreturn]] void fail(const std::string& what) const {
    throw_error(fmt::format("read_image: {}: {}; the file is damaged", file_, what));
  }
  static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
  std::uint64_t binary(std::uint64_t width) {
    std::uint64_t value = 0;
    for (; width > 0; --width) value = value << 8 | static_cast<unsigned char>(bytes_[at_++]);
    return value;
  }
  // After blanks and comments, which begin with # and end with the line.
  std::uint64_t number(const char* what) {
    while (at_ < bytes_.size() && (is_blank(bytes_[at_]) || bytes_[at_] == '#'))
      at_ = bytes_[at_] == '#' ? std::min(bytes_.find('\n', at_), bytes_.size()) : at_ + 1;
    const std::size_t begin = at_;
    std::uint64_t value = 0;
    for (; at_ < bytes_.size() && bytes_[at_] >= '0' && bytes_[at_] <= '9'; ++at_) {
      value = value * 10 + static_cast<std::uint64_t>(bytes_[at_] - '0');
      if (value > kMostNumber) fail(fmt::format("has a {} of more than {}", what, kMostNumber));
    }
    if (at_ == begin) fail(fmt::format("has no {} at byte {}", what, at_));
    return value;
  }

  std::string_view bytes_;
  const std::string& file_;
  std::size_t at_ = 0;
};

}  // namespace

Image parse_pnm(std::string_view bytes, const std::string& file) {
  return PnmReader(bytes, file).read();
}

}  // namespace groove::data
