#include "src/io/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "src/core/check.h"
#include "src/core/tensor_impl.h"
#include "src/io/dtype_names.h"

namespace groove::serialize {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::size_t kPiece = std::size_t{1} << 18;

template <typename Bits>
void canonicalise(char* bytes, std::size_t size, Bits infinity, Bits quiet_nan) {
  constexpr Bits kMagnitude = static_cast<Bits>(~Bits{0} >> 1);
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

// Hands over the elements in row-major order, in pieces whose memory `put` may change.
template <typename Put>
void each_piece(const TensorImpl& impl, const Put& put) {
  const std::size_t width = element_size(impl.dtype);
  const auto* const data = static_cast<const char*>(impl.data());
  const auto total = static_cast<std::size_t>(impl.numel) * width;
  std::vector<char> piece(std::min(total, kPiece));
  if (impl.is_contiguous) {
    for (std::size_t at = 0; at < total; at += piece.size()) {
      const std::size_t size = std::min(piece.size(), total - at);
      std::memcpy(piece.data(), data + at, size);
      put(piece.data(), size);
    }
    return;
  }
  const Shape &sizes = impl.geometry.sizes, &strides = impl.geometry.strides;
  std::vector<std::int64_t> index(sizes.size(), 0);
  std::int64_t offset = 0;
  std::size_t filled = 0;
  for (std::int64_t i = 0; i < impl.numel; ++i) {
    std::memcpy(piece.data() + filled, data + offset * static_cast<std::int64_t>(width), width);
    filled += width;
    if (filled == piece.size() || i + 1 == impl.numel) {
      put(piece.data(), filled);
      filled = 0;
    }
    for (std::size_t axis = sizes.size(); axis-- > 0;) {
      offset += strides[axis];
      if (++index[axis] < sizes[axis]) break;
      offset -= index[axis] * strides[axis];
      index[axis] = 0;
    }
  }
}

}  // namespace

void write_safetensors(const NamedTensors& tensors, const Metadata& metadata, const Sink& sink) {
  // Wide elements first, as the reference implementation has it: so all of them are aligned.
  std::vector<const NamedTensors::value_type*> order;
  for (const auto& named : tensors) {
    GROOVE_CHECK(named.second.defined(), "save: tensor '{}' is undefined", named.first);
    order.push_back(&named);
  }
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return a->second.element_size() > b->second.element_size();
  });

  std::string text = "{";
  std::size_t offset = 0;
  try {
    if (!metadata.empty()) {
      const std::map<std::string, std::string> sorted(metadata.begin(), metadata.end());
      text += R"("__metadata__":)";
      text += nlohmann::json(sorted).dump();
    }
    for (const auto* named : order) {
      const Tensor& tensor = named->second;
      const std::size_t end = offset + tensor.nbytes();
      const nlohmann::json entry = {{"dtype", file_name_of(tensor.scalar_type())},
                                    {"shape", tensor.sizes().vec()},
                                    {"data_offsets", {offset, end}}};
      if (text.size() > 1) text += ',';
      text += nlohmann::json(named->first).dump();
      text += ':';
      text += entry.dump();
      offset = end;
    }
  } catch (const nlohmann::json::exception&) {
    throw_error("save: a name or text is not valid UTF-8, which the file's header demands");
  }
  text += '}';
  text.resize((text.size() + 7) / 8 * 8, ' ');
  GROOVE_CHECK(text.size() <= kMostHeaderBytes,
               "save: the names and shapes of {} tensors take {} bytes; a header has at most {}",
               tensors.size(), text.size(), kMostHeaderBytes);

  const std::uint64_t length = text.size();
  sink(&length, sizeof length);
  sink(text.data(), text.size());
  for (const auto* named : order) {
    TensorImpl& impl = *named->second.impl();
    host_read(impl);
    each_piece(impl, [&](char* bytes, std::size_t size) {
      canonicalise_nans(impl.dtype, bytes, size);
      sink(bytes, size);
    });
  }
}

}  // namespace groove::serialize
