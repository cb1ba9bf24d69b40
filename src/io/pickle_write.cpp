#include <cstring>
#include <limits>

#include "groove/autograd.h"
#include "src/core/check.h"
#include "src/core/tensor_impl.h"
#include "src/io/pickle.h"

namespace groove::serialize {
namespace {

struct StorageName {
  ScalarType dtype;
  const char* name;
};
constexpr StorageName kStorages[] = {
    {ScalarType::Byte, "ByteStorage"},
    {ScalarType::Char, "CharStorage"},
    {ScalarType::Short, "ShortStorage"},
    {ScalarType::Int, "IntStorage"},
    {ScalarType::Long, "LongStorage"},
    {ScalarType::Half, "HalfStorage"},
    {ScalarType::Float, "FloatStorage"},
    {ScalarType::Double, "DoubleStorage"},
    {ScalarType::Bool, "BoolStorage"},
    {ScalarType::BFloat16, "BFloat16Storage"},
    {ScalarType::ComplexFloat, "ComplexFloatStorage"},
    {ScalarType::ComplexDouble, "ComplexDoubleStorage"},
};

class Writer {
 public:
  explicit Writer(std::vector<Tensor>& storages) : storages_(storages) {}

  std::string write(const IValue& value) {
    bytes_ = "\x80\x02";  // protocol 2
    put(value, 0);
    return std::move(bytes_) + ".";
  }

 private:
  template <typename T>
  void number(T value) {
    char text[sizeof value];
    std::memcpy(text, &value, sizeof value);
    bytes_.append(text, sizeof value);
  }
  void text(const std::string& value) {
    GROOVE_CHECK(value.size() <= std::numeric_limits<std::uint32_t>::max(),
                 "save: a text of {} bytes", value.size());
    bytes_ += 'X';
    number(static_cast<std::uint32_t>(value.size()));
    bytes_ += value;
  }
  void integer(std::int64_t value) {
    if (value == static_cast<std::int32_t>(value)) {
      bytes_ += 'J';
      number(static_cast<std::int32_t>(value));
    } else {
      bytes_ += "\x8a\x08";
      number(value);
    }
  }
  void integers(IntArrayRef values) {
    bytes_ += '(';
    for (const std::int64_t value : values) integer(value);
    bytes_ += 't';
  }
  void real(double value) {
    std::uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    bytes_ += 'G';
    number(__builtin_bswap64(bits));
  }

  // A call of torch._utils._rebuild_tensor_v2 with what the tensor lies in, which is its own.
  void tensor(const Tensor& value) {
    GROOVE_CHECK(value.defined(), "save: an undefined tensor");
    const char* const storage = storage_of(value.scalar_type());
    GROOVE_CHECK(storage, "save: a tensor of a dtype for which there is no storage");
    const Tensor dense = value.detach().contiguous();
    bytes_ += "ctorch._utils\n_rebuild_tensor_v2\n((";
    text("storage");
    bytes_ += std::string("ctorch\n") + storage + "\n";
    text(std::to_string(storages_.size()));
    text("cpu");
    integer(dense.numel());
    bytes_ += "tQ";
    storages_.push_back(dense);
    integer(0);
    integers(dense.sizes());
    integers(dense.strides());
    bytes_ += value.requires_grad() ? "\x88" : "\x89";
    bytes_ += "ccollections\nOrderedDict\n)RtR";
  }

  void put(const IValue& value, int depth) {
    constexpr int kMostDepth = 256;
    GROOVE_CHECK(depth <= kMostDepth, "save: values nested deeper than {}", kMostDepth);
    if (value.isNone()) bytes_ += 'N';
    if (value.isBool()) bytes_ += value.toBool() ? "\x88" : "\x89";
    if (value.isInt()) integer(value.toInt());
    if (value.isDouble()) real(value.toDouble());
    if (value.isString()) text(value.toStringRef());
    if (value.isTensor()) tensor(value.toTensor());
    if (value.isTuple()) {
      bytes_ += '(';
      for (const IValue& element : value.toTuple()->elements()) put(element, depth + 1);
      bytes_ += 't';
    }
    if (value.isList()) {
      bytes_ += "](";
      for (const IValue& element : value.toListRef()) put(element, depth + 1);
      bytes_ += 'e';
    }
    if (value.isGenericDict()) {
      bytes_ += "}(";
      for (const auto& row : value.toGenericDict()) {
        put(row.key(), depth + 1);
        put(row.value(), depth + 1);
      }
      bytes_ += 'u';
    }
  }

  std::string bytes_;
  std::vector<Tensor>& storages_;
};

}  // namespace

ScalarType dtype_of_storage(std::string_view name) {
  for (const StorageName& known : kStorages)
    if (name == known.name) return known.dtype;
  return ScalarType::Undefined;
}
const char* storage_of(ScalarType dtype) {
  for (const StorageName& known : kStorages)
    if (dtype == known.dtype) return known.name;
  return nullptr;
}

std::string write_pickle(const IValue& value, std::vector<Tensor>& storages) {
  return Writer(storages).write(value);
}

}  // namespace groove::serialize
