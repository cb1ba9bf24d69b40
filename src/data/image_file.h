// Image files that are not compressed: Netpbm's PGM and PPM, and BMP.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace groove::data {

struct Image {
  std::int64_t channels = 0, height = 0, width = 0;
  std::vector<std::uint8_t> values;  // [channels, height, width]
};

/// Throws groove::Error naming `file`. Sizes are checked before memory is asked for.
Image parse_image(std::string_view bytes, const std::string& file);
Image parse_pnm(std::string_view bytes, const std::string& file);
Image parse_bmp(std::string_view bytes, const std::string& file);

/// Reads a regular file.
Image read_image_file(const std::string& path);

}  // namespace groove::data
