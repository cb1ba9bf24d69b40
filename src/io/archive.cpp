// Archives: names and values between programs and safetensors files. A nested archive is a prefix
// "key." of the names; values that are no tensors lie in the metadata as "value:name".
#include <algorithm>
#include <cstring>
#include <istream>
#include <iterator>
#include <ostream>

#include "groove/autograd.h"
#include "groove/ordered_dict.h"
#include "groove/serialize.h"
#include "src/core/check.h"
#include "src/core/input_file.h"
#include "src/core/tensor_impl.h"
#include "src/io/atomic_file.h"
#include "src/io/checkpoint.h"
#include "src/io/safetensors.h"
#include "src/io/value_text.h"
#include "src/io/zip.h"

namespace groove::serialize {
namespace {

// Appends to `bytes`, in pieces: a stream that promises more than it has gets no memory for it.
void take(std::istream& stream, std::size_t size, std::string& bytes) {
  constexpr std::size_t kPiece = std::size_t{1} << 22;
  while (size > 0) {
    const std::size_t piece = std::min(size, kPiece), at = bytes.size();
    bytes.resize(at + piece);
    stream.read(bytes.data() + at, static_cast<std::streamsize>(piece));
    GROOVE_CHECK(static_cast<std::size_t>(stream.gcount()) == piece,
                 "load: the stream ends after {} bytes, in the midst of a file",
                 at + static_cast<std::size_t>(stream.gcount()));
    size -= piece;
  }
}

// A file of either kind: its first bytes tell.
std::shared_ptr<detail::Contents> read_file(const std::string& name, std::optional<Device> device,
                                            const Source& source, std::size_t size) {
  auto contents = std::make_shared<detail::Contents>();
  contents->source = name;
  contents->device = device.value_or(Device());
  std::string bytes(std::min(size, kZipMark), '\0');
  source(bytes.data(), bytes.size());
  if (is_zip(bytes)) {
    const std::size_t known = bytes.size();
    bytes.resize(size);
    source(bytes.data() + known, size - known);
    read_checkpoint(bytes, *contents);
    return contents;
  }
  std::size_t given = 0;
  const auto again = [&](void* to, std::size_t count) {
    const std::size_t some = std::min(count, bytes.size() - given);
    if (some > 0) std::memcpy(to, bytes.data() + given, some);
    given += some;
    source(static_cast<char*>(to) + some, count - some);
  };
  read_safetensors(again, size, *contents);
  return contents;
}

}  // namespace

// ---- writing ----

struct detail::Entries {
  OrderedDict<std::string, Tensor> tensors{"Tensor"};
  OrderedDict<std::string, IValue> values{"Value"};
};

OutputArchive::OutputArchive() : entries_(std::make_unique<detail::Entries>()) {}
OutputArchive::OutputArchive(OutputArchive&&) noexcept = default;
OutputArchive& OutputArchive::operator=(OutputArchive&&) noexcept = default;
OutputArchive::~OutputArchive() = default;

void OutputArchive::check_new(const std::string& key) const {
  GROOVE_CHECK(!key.empty(), "OutputArchive: the key must not be empty");
  GROOVE_CHECK(key != "__metadata__", "OutputArchive: the key __metadata__ belongs to the format");
  GROOVE_CHECK(!entries_->tensors.contains(key) && !entries_->values.contains(key),
               "OutputArchive: '{}' is written twice", key);
}

void OutputArchive::write(const std::string& key, const Tensor& value, bool) {
  check_new(key);
  GROOVE_CHECK(value.defined(), "OutputArchive: the tensor '{}' is undefined", key);
  entries_->tensors.insert(key, value);
}

void OutputArchive::write(const std::string& key, const IValue& value) {
  if (value.isTensor()) return write(key, value.toTensor());
  check_new(key);
  entries_->values.insert(key, value);
}

void OutputArchive::write(const std::string& key, const RandomState& state) {
  write(key, IValue(std::vector<std::int64_t>{static_cast<std::int64_t>(state.seed),
                                              static_cast<std::int64_t>(state.draws)}));
}

void OutputArchive::write(const std::string& key, OutputArchive& nested) {
  for (const auto& item : nested.entries_->tensors) write(key + "." + item.key(), item.value());
  for (const auto& item : nested.entries_->values) write(key + "." + item.key(), item.value());
  const bool is_empty = nested.entries_->tensors.is_empty() && nested.entries_->values.is_empty();
  if (is_empty) write(key, IValue());
}

void OutputArchive::save_to(const std::function<std::size_t(const void*, std::size_t)>& writer) {
  // Other readers of the format ask for "format"; bits are promised within one build only.
  Metadata metadata = {{"format", "pt"},
                       {"groove.build", GROOVE_VERSION ", compiler " __VERSION__}};
  for (const auto& item : entries_->values)
    metadata.emplace_back(detail::kValue + item.key(), text_of(item.value()));
  NamedTensors tensors;
  for (const auto& item : entries_->tensors) tensors.emplace_back(item.key(), item.value());
  write_safetensors(tensors, metadata, [&](const void* bytes, std::size_t size) {
    const std::size_t taken = writer(bytes, size);
    GROOVE_CHECK(taken == size, "save: the writer took {} of {} bytes", taken, size);
  });
}

void OutputArchive::save_to(const std::string& path) {
  AtomicFile file(path);
  save_to([&](const void* bytes, std::size_t size) {
    file.write(bytes, size);
    return size;
  });
  file.finish();
}

void OutputArchive::save_to(std::ostream& stream) {
  save_to([&](const void* bytes, std::size_t size) {
    stream.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size));
    return stream.good() ? size : std::size_t{0};
  });
}

// ---- reading ----

InputArchive::InputArchive() : contents_(std::make_shared<detail::Contents>()) {
  contents_->source = "an archive that nothing was loaded into";
}

void InputArchive::load_from(const std::string& path, std::optional<Device> device) {
  InputFile file(path);
  contents_ = read_file(
      path, device, [&](void* bytes, std::size_t size) { file.read(bytes, size); }, file.size());
  prefix_.clear();
}

void InputArchive::load_from(
    const std::function<std::size_t(std::uint64_t, void*, std::size_t)>& read,
    const std::function<std::size_t()>& size, std::optional<Device> device) {
  std::uint64_t at = 0;
  const auto take_all = [&](void* bytes, std::size_t count) {
    for (std::size_t done = 0; done < count;) {
      const std::size_t some = read(at, static_cast<char*>(bytes) + done, count - done);
      GROOVE_CHECK(some > 0 && some <= count - done,
                   "load: the function gave {} bytes at position {} where {} are missing", some, at,
                   count - done);
      done += some;
      at += some;
    }
  };
  contents_ = read_file("(function)", device, take_all, size());
  prefix_.clear();
}

void InputArchive::load_from(const char* data, std::size_t size, std::optional<Device> device) {
  std::size_t at = 0;
  const auto next = [&](void* bytes, std::size_t count) {
    if (count) std::memcpy(bytes, data + at, count);
    at += count;
  };
  contents_ = read_file("(memory)", device, next, size);
  prefix_.clear();
}

// The header says where the file ends; what follows in the stream stays there. A zip file says so
// at its end only, and takes all.
void InputArchive::load_from(std::istream& stream, std::optional<Device> device) {
  std::string bytes;
  std::uint64_t length = 0;
  take(stream, sizeof length, bytes);
  if (is_zip(bytes)) {
    bytes.append(std::istreambuf_iterator<char>(stream), {});
  } else {
    std::memcpy(&length, bytes.data(), sizeof length);
    GROOVE_CHECK(length <= kMostHeaderBytes,
                 "load: the stream says that its header has {} bytes; a header has at most {}",
                 length, kMostHeaderBytes);
    take(stream, length, bytes);
    take(stream, data_size(bytes.substr(sizeof length), "(stream)"), bytes);
  }
  load_from(bytes.data(), bytes.size(), device);
  contents_->source = "(stream)";
}

void InputArchive::fail(const std::string& key, const std::string& reason) const {
  throw_error(fmt::format("load: {}: '{}{}' {}", contents_->source, prefix_, key, reason));
}

InputArchive InputArchive::below(const std::string& key) const {
  InputArchive result;
  result.contents_ = contents_;
  result.prefix_ = prefix_ + key + ".";
  return result;
}

bool InputArchive::try_read(const std::string& key, Tensor& tensor, bool) {
  const auto found = contents_->tensors.find(prefix_ + key);
  if (found == contents_->tensors.end()) return false;
  const Tensor value = found->second.to(contents_->device);
  if (!tensor.defined()) {
    tensor = value.clone();
    return true;
  }
  const NoGradGuard no_grad;
  if (tensor.sizes() == value.sizes() && tensor.scalar_type() == value.scalar_type())
    tensor.copy_(value);
  else
    tensor.set_data(value.clone());
  return true;
}

void InputArchive::read(const std::string& key, Tensor& tensor, bool is_buffer) {
  if (!try_read(key, tensor, is_buffer)) fail(key, "is missing");
}

bool InputArchive::try_read(const std::string& key, IValue& value) {
  const auto found = contents_->values.find(detail::kValue + prefix_ + key);
  if (found == contents_->values.end()) return false;
  auto read = value_of(found->second);
  if (!read) fail(key, "has the text '" + found->second + "', which is no value");
  value = std::move(*read);
  return true;
}

void InputArchive::read(const std::string& key, IValue& value) {
  if (!try_read(key, value)) fail(key, "is missing");
}

void InputArchive::read(const std::string& key, RandomState& state) {
  IValue value;
  read(key, value);
  if (!value.isIntList() || value.toIntVector().size() != 2) fail(key, "is no random state");
  state = {static_cast<std::uint64_t>(value.toIntVector()[0]),
           static_cast<std::uint64_t>(value.toIntVector()[1])};
}

bool InputArchive::try_read(const std::string& key, InputArchive& archive) {
  InputArchive nested = below(key);
  const auto has = [&](const auto& map, const std::string& start) {
    const auto first = map.lower_bound(start);
    return first != map.end() && first->first.compare(0, start.size(), start) == 0;
  };
  IValue marker;
  const bool is_there = has(contents_->tensors, nested.prefix_) ||
                        has(contents_->values, detail::kValue + nested.prefix_) ||
                        (try_read(key, marker) && marker.isNone());
  if (is_there) archive = std::move(nested);
  return is_there;
}

void InputArchive::read(const std::string& key, InputArchive& archive) {
  if (!try_read(key, archive)) fail(key, "is missing (there is nothing below it)");
}

std::vector<std::string> InputArchive::keys() const {
  std::vector<std::string> result;
  const auto add = [&](const auto& map, const std::string& start) {
    for (auto at = map.lower_bound(start);
         at != map.end() && at->first.compare(0, start.size(), start) == 0; ++at) {
      const std::string rest = at->first.substr(start.size());
      result.push_back(rest.substr(0, rest.find('.')));
    }
  };
  add(contents_->tensors, prefix_);
  add(contents_->values, detail::kValue + prefix_);
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

// ---- modules: check all, then write ----

void InputArchive::read_later(const std::string& key, const Tensor& target) {
  const auto found = contents_->tensors.find(prefix_ + key);
  if (found == contents_->tensors.end()) fail(key, "is missing; is the file of another model?");
  const Tensor& value = found->second;
  if (value.sizes() != target.sizes())
    fail(key, fmt::format("has shape {} in the file, but the module's has {}",
                          to_string(value.sizes()), to_string(target.sizes())));
  if (value.scalar_type() != target.scalar_type())
    fail(key, fmt::format("is {} in the file, but the module's is {}; convert the module with to() "
                          "first",
                          name(value.scalar_type()), name(target.scalar_type())));
  contents_->pending.emplace_back(target, value);
}

void InputArchive::begin() { ++contents_->depth; }

void InputArchive::commit() {
  if (--contents_->depth > 0) return;
  const NoGradGuard no_grad;
  for (auto& [target, value] : contents_->pending) target.copy_(value);
  contents_->pending.clear();
}

void InputArchive::abandon() noexcept {
  --contents_->depth;
  contents_->pending.clear();
}

// ---- save(value, …) and load(value, …) ----

}  // namespace groove::serialize

namespace groove {

serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const Tensor& tensor) {
  archive.write("0", tensor);
  return archive;
}
serialize::InputArchive& operator>>(serialize::InputArchive& archive, Tensor& tensor) {
  archive.read("0", tensor);
  return archive;
}

namespace nn {

serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const Module& module) {
  module.save(archive);
  return archive;
}
serialize::InputArchive& operator>>(serialize::InputArchive& archive, Module& module) {
  module.load(archive);
  return archive;
}

void Module::save(serialize::OutputArchive& archive) const {
  for (const auto& item : parameters_)
    if (item.value().defined()) archive.write(item.key(), item.value());
  for (const auto& item : buffers_)
    if (item.value().defined()) archive.write(item.key(), item.value(), true);
  for (const auto& child : children_) {
    if (!child.value()->is_serializable()) continue;
    serialize::OutputArchive nested;
    child.value()->save(nested);
    archive.write(child.key(), nested);
  }
}

void Module::load(serialize::InputArchive& archive) {
  archive.begin();
  try {
    for (const auto& item : parameters_)
      if (item.value().defined()) archive.read_later(item.key(), item.value());
    for (const auto& item : buffers_)
      if (item.value().defined()) archive.read_later(item.key(), item.value());
    for (auto& child : children_) {
      if (!child.value()->is_serializable()) continue;
      serialize::InputArchive nested = archive.below(child.key());
      child.value()->load(nested);
    }
  } catch (...) {
    archive.abandon();
    throw;
  }
  archive.commit();
}

}  // namespace nn
}  // namespace groove
