// PNG files, written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace groove::serialize {

/// Bytes of [height, width, channels] with 1, 3 or 4 channels.
std::string png_of(std::string_view pixels, std::uint32_t height, std::uint32_t width,
                   std::uint32_t channels);

}  // namespace groove::serialize
