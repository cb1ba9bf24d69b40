#include "src/io/png.h"

#include <zlib.h>

#include "src/core/check.h"
#include "src/io/zip.h"

namespace groove::serialize {
namespace {

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(value >> shift);
  return bytes;
}

std::string chunk(const std::string& name, const std::string& content) {
  const std::string body = name + content;
  return big_endian(static_cast<std::uint32_t>(content.size())) + body +
         big_endian(checksum_of(body));
}

}  // namespace

std::string png_of(std::string_view pixels, std::uint32_t height, std::uint32_t width,
                   std::uint32_t channels) {
  constexpr std::size_t kMost = std::size_t{1} << 30;
  const std::size_t line = std::size_t{width} * channels;
  GROOVE_CHECK(pixels.size() < kMost, "png: an image of {} bytes is too large", pixels.size());
  std::string lines;
  for (std::uint32_t row = 0; row < height; ++row) {
    lines += '\0';  // no filter
    lines += pixels.substr(row * line, line);
  }
  uLongf size = compressBound(lines.size());
  std::string packed(size, '\0');
  const int status =
      compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                reinterpret_cast<const Bytef*>(lines.data()), lines.size(), Z_BEST_SPEED);
  GROOVE_ASSERT(status == Z_OK);
  packed.resize(size);
  const char type = channels == 1 ? 0 : channels == 3 ? 2 : 6;
  const std::string form = {8, type, 0, 0, 0};
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", big_endian(width) + big_endian(height) + form) +
         chunk("IDAT", packed) + chunk("IEND", "");
}

}  // namespace groove::serialize
