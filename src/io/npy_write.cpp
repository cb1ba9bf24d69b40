#include <algorithm>

#include "groove/npy.h"
#include "src/core/check.h"
#include "src/io/atomic_file.h"
#include "src/io/npy.h"
#include "src/io/zip.h"

namespace groove::serialize {
namespace {

// With the order of its bytes, where there are several.
std::string npy_name_of(ScalarType dtype) {
  for (const NpyDtype& known : kNpyDtypes)
    if (known.dtype == dtype)
      return fmt::format("{}{}", element_size(dtype) == 1 ? '|' : '<', known.text);
  throw_error(
      fmt::format("save: NumPy has no dtype {}; convert the tensor with to(kFloat)", name(dtype)));
}

// Room is left for the first size to grow, as NumPy does, so that both write the same bytes.
std::string header_of(const Tensor& tensor) {
  constexpr std::size_t kMostDigits = 21, kAlignment = 64, kBefore = 10;
  std::string shape, first;
  for (const std::int64_t size : tensor.sizes()) {
    if (first.empty()) first = std::to_string(size);
    shape += (shape.empty() ? "" : ", ") + std::to_string(size);
  }
  if (tensor.dim() == 1) shape += ',';
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                                 npy_name_of(tensor.scalar_type()), shape);
  if (!first.empty()) text.append(kMostDigits - first.size(), ' ');
  text.append(kAlignment - (kBefore + text.size() + 1) % kAlignment, ' ');
  return text + '\n';
}

}  // namespace

void write_npy(const Tensor& tensor, const Sink& sink) {
  GROOVE_CHECK(tensor.defined(), "save: the tensor is undefined; give it a value first");
  const std::string header = header_of(tensor);
  std::string start("\x93NUMPY\x01\x00", 8);
  start += static_cast<char>(header.size() & 0xff);
  start += static_cast<char>(header.size() >> 8);
  sink(start.data(), start.size());
  sink(header.data(), header.size());
  each_piece(tensor, sink);
}

}  // namespace groove::serialize

namespace groove {

void save_npy(const std::string& path, const Tensor& tensor, Site site) {
  const CallFrame frame(site);
  serialize::AtomicFile file(path);
  serialize::write_npy(tensor,
                       [&](const void* bytes, std::size_t size) { file.write(bytes, size); });
  file.finish();
}

void save_npz(const std::string& path, const OrderedDict<std::string, Tensor>& tensors, Site site) {
  const CallFrame frame(site);
  serialize::ZipWriter zip;
  for (const auto& item : tensors) {
    std::string content;
    serialize::write_npy(item.value(), [&](const void* bytes, std::size_t size) {
      content.append(static_cast<const char*>(bytes), size);
    });
    zip.add(item.key() + ".npy", content);
  }
  const std::string bytes = zip.finish();
  serialize::AtomicFile file(path);
  file.write(bytes.data(), bytes.size());
  file.finish();
}

}  // namespace groove
