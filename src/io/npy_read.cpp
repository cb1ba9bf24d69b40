#include <algorithm>
#include <cstring>

#include "groove/npy.h"
#include "src/core/check.h"
#include "src/core/input_file.h"
#include "src/core/state.h"
#include "src/core/tensor_impl.h"
#include "src/io/npy.h"
#include "src/io/zip.h"

namespace groove::serialize {
namespace {

void swap_bytes(char* bytes, std::size_t size, std::size_t width) {
  for (std::size_t at = 0; at < size; at += width) std::reverse(bytes + at, bytes + at + width);
}

// The same elements in row-major order.
Tensor turned(const Tensor& columns, const Shape& sizes) {
  const Tensor rows = make_empty(sizes, columns.scalar_type());
  const std::size_t width = element_size(columns.scalar_type());
  const auto* const from = static_cast<const char*>(columns.impl()->data());
  auto* to = static_cast<char*>(rows.impl()->data());
  Shape strides;
  std::int64_t stride = 1;
  for (const std::int64_t size : sizes) {
    strides.push_back(stride);
    stride *= size;
  }
  for_each_offset(sizes, strides, [&](std::int64_t offset) {
    std::memcpy(to, from + offset * static_cast<std::int64_t>(width), width);
    to += width;
  });
  return rows;
}

}  // namespace

Tensor read_npy(const Source& source, std::size_t size, const std::string& file) {
  constexpr std::size_t kMarkBytes = 8;
  char start[kMarkBytes + 4] = {};
  std::size_t left = size;
  const auto take = [&](void* bytes, std::size_t count) {
    GROOVE_CHECK(count <= left, "load: {}: ends within the header, after {} bytes", file, size);
    left -= count;
    source(bytes, count);
  };
  take(start, std::min(size, kMarkBytes));
  GROOVE_CHECK(std::memcmp(start, "\x93NUMPY", 6) == 0,
               "load: {}: does not begin as a .npy file does", file);
  const int version = start[6];
  GROOVE_CHECK(version >= 1 && version <= 3 && start[7] == 0,
               "load: {}: is of version {}.{} of the format; Groove knows 1.0, 2.0 and 3.0", file,
               version, static_cast<int>(start[7]));
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  take(start + kMarkBytes, length_bytes);
  std::uint32_t length = 0;
  std::memcpy(&length, start + kMarkBytes, length_bytes);
  GROOVE_CHECK(length <= left, "load: {}: says that its header has {} bytes; {} follow", file,
               length, left);
  std::string text(length, '\0');
  take(text.data(), text.size());
  const NpyHeader header = parse_npy_header(text, file);
  const std::size_t bytes =
      bytes_of_shape(header.shape, header.dtype, fmt::format("load: {}:", file));
  GROOVE_CHECK(bytes == left,
               "load: {}: {} bytes follow the header, whose shape takes {}; the file is cut short "
               "or goes on after its end",
               file, left, bytes);

  Shape sizes;
  for (const std::uint64_t one : header.shape) sizes.push_back(static_cast<std::int64_t>(one));
  Tensor tensor = make_empty(sizes, header.dtype);
  auto* const data = static_cast<char*>(tensor.impl()->data());
  take(data, bytes);
  if (header.is_big_endian) swap_bytes(data, bytes, element_size(real_dtype(header.dtype)));
  if (header.dtype == kBool) check_bools(tensor, file, "array");
  if (header.is_column_major && sizes.size() > 1) tensor = turned(tensor, sizes);
  note_given(sizes, false);
  return tensor;
}

void read_npz(std::string_view bytes, const std::string& file,
              const std::function<void(const std::string&, const Tensor&)>& take) {
  constexpr std::string_view kEnding = ".npy";
  const ZipReader zip(bytes, file);
  for (const std::string& entry : zip.names()) {
    GROOVE_CHECK(entry.ends_with(kEnding), "load: {}: has an entry '{}', which is no .npy", file,
                 entry);
    const std::string content = zip.read(entry);
    std::size_t at = 0;
    const auto source = [&](void* to, std::size_t size) {
      if (size > 0) std::memcpy(to, content.data() + at, size);
      at += size;
    };
    take(entry.substr(0, entry.size() - kEnding.size()),
         read_npy(source, content.size(), file + "/" + entry));
  }
}

}  // namespace groove::serialize

namespace groove {

Tensor load_npy(const std::string& path, Site site) {
  const CallFrame frame(site);
  InputFile file(path);
  return serialize::read_npy([&](void* bytes, std::size_t size) { file.read(bytes, size); },
                             file.size(), path);
}

OrderedDict<std::string, Tensor> load_npz(const std::string& path, Site site) {
  const CallFrame frame(site);
  OrderedDict<std::string, Tensor> tensors("Tensor");
  serialize::read_npz(
      bytes_of_file(path), path,
      [&](const std::string& name, const Tensor& tensor) { tensors.insert(name, tensor); });
  return tensors;
}

}  // namespace groove
