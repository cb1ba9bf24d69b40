#include "src/io/checkpoint.h"

#include <bit>
#include <cstring>

#include "groove/serialize.h"
#include "src/core/check.h"
#include "src/core/tensor_impl.h"
#include "src/io/pickle.h"
#include "src/io/value_text.h"
#include "src/io/zip.h"

namespace groove {
namespace serialize {
namespace {

constexpr std::string_view kPickle = "data.pkl";

// All entries lie in one folder, of any name.
std::string folder_of(const ZipReader& zip) {
  for (const std::string& name : zip.names()) {
    const std::size_t slash = name.find('/');
    if (slash != std::string::npos && name.substr(slash + 1) == kPickle)
      return name.substr(0, slash + 1);
  }
  throw_error(
      fmt::format("load: {}: is a zip file without a data.pkl; Groove reads what "
                  "torch.save() or torch::pickle_save() wrote",
                  zip.source()));
}

std::string name_in(const std::string& outer, const std::string& inner) {
  return outer.empty() ? inner : outer + "." + inner;
}

void add(const std::string& name, const IValue& value, detail::Contents& contents) {
  if (value.isTensor()) {
    contents.tensors.emplace(name.empty() ? "0" : name, value.toTensor());
  } else if (value.isGenericDict()) {
    for (const auto& row : value.toGenericDict())
      if (row.key().isString())
        add(name_in(name, row.key().toStringRef()), row.value(), contents);
      else if (row.key().isInt())
        add(name_in(name, std::to_string(row.key().toInt())), row.value(), contents);
  } else if (value.isTuple() || (value.isList() && !value.isIntList() && !value.isDoubleList())) {
    const std::vector<IValue> all =
        value.isTuple() ? value.toTuple()->elements() : value.toListRef();
    for (std::size_t i = 0; i < all.size(); ++i)
      add(name_in(name, std::to_string(i)), all[i], contents);
  } else {
    contents.values.emplace(detail::kValue + name, text_of(value));
  }
}

}  // namespace

IValue read_checkpoint(std::string_view bytes, const std::string& source) {
  const ZipReader zip(bytes, source);
  const std::string folder = folder_of(zip), order = folder + "byteorder";
  GROOVE_CHECK(!zip.contains(order) || zip.read(order) == "little",
               "load: {}: its numbers are big-endian; save it again on another machine", source);
  static_assert(std::endian::native == std::endian::little);
  return read_pickle(zip.read(folder + std::string(kPickle)), source,
                     [&](const std::string& key) { return zip.read(folder + "data/" + key); });
}

void read_checkpoint(std::string_view bytes, detail::Contents& contents) {
  add("", read_checkpoint(bytes, contents.source), contents);
}

std::string write_checkpoint(const IValue& value) {
  const std::string folder = "archive/";
  std::vector<Tensor> storages;
  ZipWriter zip;
  zip.add(folder + std::string(kPickle), write_pickle(value, storages));
  zip.add(folder + "byteorder", "little");
  for (std::size_t i = 0; i < storages.size(); ++i)
    zip.add(folder + "data/" + std::to_string(i),
            {static_cast<const char*>(storages[i].data_ptr()), storages[i].nbytes()});
  zip.add(folder + "version", "3\n");
  return zip.finish();
}

}  // namespace serialize

IValue pickle_load(const std::vector<char>& data, Site site) {
  const groove::detail::CallScope scope(site, __func__);
  GROOVE_CHECK(
      serialize::is_zip({data.data(), data.size()}),
      "load: (memory): {} bytes that are no zip file; files of torch.save() before 1.6 must "
      "be saved again",
      data.size());
  return serialize::read_checkpoint({data.data(), data.size()}, "(memory)");
}

std::vector<char> pickle_save(const IValue& value, Site site) {
  const groove::detail::CallScope scope(site, __func__);
  const std::string bytes = serialize::write_checkpoint(value);
  return {bytes.begin(), bytes.end()};
}

}  // namespace groove
