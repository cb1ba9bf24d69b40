#include "src/io/elements.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "src/core/check.h"
#include "src/core/tensor_impl.h"

namespace groove::serialize {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::size_t kPiece = std::size_t{1} << 18;

template <typename Bits>
void canonicalise(char* bytes, std::size_t size, Bits infinity, Bits quiet_nan) {
  constexpr Bits kMagnitude = std::numeric_limits<std::make_signed_t<Bits>>::max();
  for (std::size_t at = 0; at < size; at += sizeof(Bits)) {
    Bits value;
    std::memcpy(&value, bytes + at, sizeof value);
    value = (value & kMagnitude) > infinity ? quiet_nan : value;
    std::memcpy(bytes + at, &value, sizeof value);
  }
}

void canonicalise_nans(ScalarType dtype, char* bytes, std::size_t size) {
  if (dtype == kFloat) canonicalise<std::uint32_t>(bytes, size, 0x7f800000, 0x7fc00000);
  if (dtype == kDouble)
    canonicalise<std::uint64_t>(bytes, size, 0x7ff0000000000000, 0x7ff8000000000000);
  if (dtype == kHalf) canonicalise<std::uint16_t>(bytes, size, 0x7c00, 0x7e00);
  if (dtype == kBFloat16) canonicalise<std::uint16_t>(bytes, size, 0x7f80, 0x7fc0);
}

}  // namespace

std::size_t bytes_of_shape(ArrayRef<std::uint64_t> shape, ScalarType dtype,
                           const std::string& what) {
  std::uint64_t bytes = element_size(dtype);
  bool fits = true, is_empty = false;
  for (const std::uint64_t size : shape) {
    is_empty = is_empty || size == 0;
    fits = fits && !__builtin_mul_overflow(bytes, std::max<std::uint64_t>(size, 1), &bytes);
  }
  GROOVE_CHECK(fits && bytes <= static_cast<std::uint64_t>(INT64_MAX),
               "{} has a shape of more than 2^63 bytes", what);
  return is_empty ? 0 : bytes;
}

void each_piece(const Tensor& tensor, const Sink& sink) {
  TensorImpl& impl = *tensor.impl();
  host_read(impl);
  const std::size_t width = element_size(impl.dtype);
  const auto* const data = static_cast<const char*>(impl.data());
  const auto total = static_cast<std::size_t>(impl.numel) * width;
  std::vector<char> piece(std::min(total, kPiece));
  const auto put = [&](std::size_t size) {
    canonicalise_nans(real_dtype(impl.dtype), piece.data(), size);
    sink(piece.data(), size);
  };
  if (impl.is_contiguous) {
    for (std::size_t at = 0; at < total; at += piece.size()) {
      const std::size_t size = std::min(piece.size(), total - at);
      std::memcpy(piece.data(), data + at, size);
      put(size);
    }
    return;
  }
  std::size_t filled = 0, left = total;
  for_each_offset(impl.geometry.sizes, impl.geometry.strides, [&](std::int64_t offset) {
    std::memcpy(piece.data() + filled, data + offset * static_cast<std::int64_t>(width), width);
    filled += width;
    left -= width;
    if (filled < piece.size() && left > 0) return;
    put(filled);
    filled = 0;
  });
}

void check_bools(const Tensor& tensor, const std::string& file, const std::string& entry) {
  const auto* const bytes = static_cast<const unsigned char*>(tensor.impl()->data());
  for (std::int64_t i = 0; i < tensor.numel(); ++i)
    GROOVE_CHECK(bytes[i] <= 1, "load: {}: element {} of '{}' is {}; a bool is 0 or 1", file, i,
                 entry, bytes[i]);
}

}  // namespace groove::serialize
