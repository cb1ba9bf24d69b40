#include "src/io/safetensors.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>

#include "src/core/check.h"
#include "src/io/dtype_names.h"

namespace groove::serialize {

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
    each_piece(named->second, sink);
  }
}

}  // namespace groove::serialize
