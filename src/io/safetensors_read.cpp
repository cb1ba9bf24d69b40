#include <algorithm>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "src/core/check.h"
#include "src/core/tensor_impl.h"
#include "src/io/dtype_names.h"
#include "src/io/safetensors.h"

namespace groove::serialize {
namespace {

using Json = nlohmann::json;

struct Entry {
  std::string name, dtype;
  std::vector<std::uint64_t> shape, offsets;
  bool has_dtype = false, has_shape = false, has_offsets = false;
};

// Takes the header as the parser meets it, so that doubled names and nested rubbish are seen and
// nothing but a header's shape ever takes memory.
class HeaderReader : public nlohmann::json_sax<Json> {
 public:
  std::vector<Entry> entries;
  std::map<std::string, std::string> metadata;
  std::string error;

  bool start_object(std::size_t) override {
    if (place_ == Place::kOutside) return enter(Place::kTop);
    if (place_ != Place::kTop) return stop("has an object where none belongs");
    if (name_ == "__metadata__") return enter(Place::kMetadata);
    entries.push_back({});
    entries.back().name = name_;
    return enter(Place::kEntry);
  }
  bool end_object() override {
    if (place_ == Place::kEntry) {
      const Entry& entry = entries.back();
      if (!entry.has_dtype || !entry.has_shape || !entry.has_offsets)
        return stop("'" + entry.name + "' lacks dtype, shape or data_offsets");
    }
    return enter(place_ == Place::kTop ? Place::kOutside : Place::kTop);
  }
  bool key(string_t& text) override {
    if (place_ == Place::kTop) {
      name_ = text;
      return names_.insert(text).second || stop("has two entries '" + text + "'");
    }
    field_ = text;
    if (place_ == Place::kMetadata)
      return !metadata.count(text) || stop("has two texts '" + text + "' in its metadata");
    Entry& entry = entries.back();
    bool* const has = text == "dtype"          ? &entry.has_dtype
                      : text == "shape"        ? &entry.has_shape
                      : text == "data_offsets" ? &entry.has_offsets
                                               : nullptr;
    if (!has) return stop("'" + entry.name + "' has an unknown field '" + text + "'");
    if (*has) return stop("'" + entry.name + "' has two fields '" + text + "'");
    return *has = true;
  }
  bool string(string_t& text) override {
    if (place_ == Place::kMetadata) {
      metadata[field_] = text;
      return true;
    }
    if (place_ != Place::kEntry || field_ != "dtype") return stop("has a text out of place");
    entries.back().dtype = text;
    return true;
  }
  bool start_array(std::size_t) override {
    if (place_ != Place::kEntry || field_ == "dtype") return stop("has a list out of place");
    return enter(Place::kList);
  }
  bool end_array() override { return enter(Place::kEntry); }
  bool number_unsigned(number_unsigned_t value) override {
    if (place_ != Place::kList) return stop("has a number out of place");
    auto& list = field_ == "shape" ? entries.back().shape : entries.back().offsets;
    if (list.size() == 64) return stop("'" + name_ + "' has more than 64 dimensions");
    list.push_back(value);
    return true;
  }
  bool number_integer(number_integer_t) override { return stop("has a negative number"); }
  bool number_float(number_float_t, const string_t& text) override {
    return stop("has the number " + text + ", which is no 64-bit integer");
  }
  bool null() override { return stop("has a null"); }
  bool boolean(bool) override { return stop("has a true or false"); }
  bool binary(binary_t&) override { return stop("has binary data"); }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    return stop("is not JSON in UTF-8 at byte " + std::to_string(position));
  }

 private:
  enum class Place { kOutside, kTop, kMetadata, kEntry, kList };
  bool enter(Place place) {
    place_ = place;
    return true;
  }
  bool stop(std::string reason) {
    if (error.empty()) error = std::move(reason);
    return false;
  }
  Place place_ = Place::kOutside;
  std::string name_, field_;
  std::unordered_set<std::string> names_;
};

struct Header {
  std::vector<Entry> entries;  // in the order of their data
  std::map<std::string, std::string> metadata;
  std::size_t data_bytes = 0;
};

Header parse_header(const std::string& text, const std::string& file) {
  GROOVE_CHECK(!text.empty() && text.front() == '{',
               "load: {}: the header does not begin with '{{'; "
               "this is no safetensors file",
               file);
  HeaderReader reader;
  const bool is_good = Json::sax_parse(text.begin(), text.end(), &reader);
  GROOVE_CHECK(is_good, "load: {}: the header {}", file, reader.error);
  for (const Entry& entry : reader.entries) {
    const ScalarType dtype = dtype_of_file_name(entry.dtype);
    GROOVE_CHECK(dtype != ScalarType::Undefined,
                 "load: {}: '{}' has dtype {}, which Groove has not", file, entry.name,
                 entry.dtype);
    GROOVE_CHECK(entry.offsets.size() == 2 && entry.offsets[0] <= entry.offsets[1],
                 "load: {}: '{}' has data_offsets that are no range", file, entry.name);
    const std::size_t bytes =
        bytes_of_shape(entry.shape, dtype, fmt::format("load: {}: '{}'", file, entry.name));
    GROOVE_CHECK(entry.offsets[1] - entry.offsets[0] == bytes,
                 "load: {}: '{}' takes {} bytes by its shape, but {} by its offsets", file,
                 entry.name, bytes, entry.offsets[1] - entry.offsets[0]);
  }
  std::stable_sort(reader.entries.begin(), reader.entries.end(),
                   [](const Entry& a, const Entry& b) { return a.offsets < b.offsets; });
  std::uint64_t end = 0;
  for (const Entry& entry : reader.entries) {
    GROOVE_CHECK(entry.offsets[0] == end,
                 "load: {}: the data of '{}' begins at {}, but the data before it ends at {}", file,
                 entry.name, entry.offsets[0], end);
    end = entry.offsets[1];
  }
  return {std::move(reader.entries), std::move(reader.metadata), end};
}

}  // namespace

std::size_t data_size(const std::string& header, const std::string& source) {
  return parse_header(header, source).data_bytes;
}

void read_safetensors(const Source& source, std::size_t size, detail::Contents& contents) {
  const std::string& file = contents.source;
  std::uint64_t length = 0;
  GROOVE_CHECK(size >= sizeof length, "load: {}: has {} bytes; a safetensors file has at least 8",
               file, size);
  source(&length, sizeof length);
  GROOVE_CHECK(length <= size - sizeof length && length <= kMostHeaderBytes,
               "load: {}: says that its header has {} bytes; the file has {} (and a header at most "
               "{})",
               file, length, size, kMostHeaderBytes);
  std::string text(length, '\0');
  source(text.data(), text.size());
  Header header = parse_header(text, file);
  const std::size_t data = size - sizeof length - length;
  GROOVE_CHECK(header.data_bytes == data,
               "load: {}: {} bytes follow the header, which speaks of {}; the file is cut short or "
               "goes on after its end",
               file, data, header.data_bytes);
  for (const Entry& entry : header.entries) {
    Shape sizes;
    for (const std::uint64_t one : entry.shape) sizes.push_back(static_cast<std::int64_t>(one));
    const Tensor tensor = make_empty(sizes, dtype_of_file_name(entry.dtype));
    source(tensor.impl()->data(), tensor.nbytes());
    if (tensor.scalar_type() == kBool) check_bools(tensor, file, entry.name);
    contents.tensors.emplace(entry.name, tensor);
  }
  contents.values = std::move(header.metadata);
}

}  // namespace groove::serialize
