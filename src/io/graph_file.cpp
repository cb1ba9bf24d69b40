// Graph::save() and load_graph(): the JSON, and the weights beside it.
#include "src/io/graph_json.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "groove/serialize.h"
#include "src/io/atomic_file.h"

namespace groove::jit {

using serialize::GraphFile;

namespace {

constexpr const char* kGraphKey = "groove.graph";  // in the weights' file: whose they are

std::string weights_path(const std::string& path) {
  return std::filesystem::path(path).replace_extension(".safetensors").string();
}

std::string read_all(const std::string& path) {
  std::error_code failure;
  const std::uintmax_t size = std::filesystem::file_size(path, failure);
  GROOVE_CHECK(!failure, "load: {}: {}", path, failure.message());
  constexpr std::uintmax_t kMost = std::uintmax_t{1} << 28;  // a graph of a million nodes has less
  GROOVE_CHECK(size <= kMost, "load: {}: has {} bytes; a graph has at most {}", path, size, kMost);
  std::ifstream stream(path, std::ios::binary);
  GROOVE_CHECK(stream, "load: {}: cannot be opened", path);
  return std::string(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
}

}  // namespace

void Graph::save(const std::string& path) const {
  const std::string problem = this->problem();
  GROOVE_CHECK(problem.empty(), "save: {}: {}", path, problem);
  const std::string beside = weights_path(path);
  GROOVE_CHECK(beside != path,
               "save: {}: the weights go into a file of this name; save the graph as "
               "….json",
               path);
  const groove::Graph graph = detail::in_order(*state_);
  const std::vector<std::string> names = value_names(graph);
  serialize::OutputArchive archive;
  bool has_weights = false;
  for (std::size_t i = 0; i < state_->weights.size(); ++i) {
    if (!state_->weights[i].defined()) continue;
    archive.write(names[static_cast<std::size_t>(graph.inputs[i].value)], state_->weights[i]);
    has_weights = true;
  }
  const std::string text = serialize::graph_json(
      *state_, has_weights ? std::filesystem::path(beside).filename().string() : std::string());
  if (has_weights) {
    archive.write(kGraphKey, IValue(serialize::read_graph_json(text, path).id));
    archive.save_to(beside);
  }
  serialize::AtomicFile file(path);
  file.write(text.data(), text.size());
  file.finish();
}

Graph load_graph(const std::string& path) {
  GraphFile file = serialize::read_graph_json(read_all(path), path);
  detail::GraphState& state = *file.state;
  serialize::InputArchive archive;
  if (!file.weights.empty()) {
    archive.load_from((std::filesystem::path(path).parent_path() / file.weights).string());
    IValue id;
    if (archive.try_read(kGraphKey, id)) {
      GROOVE_CHECK(id.isString() && id.toStringRef() == file.id,
                   "load: {}: the weights in {} are those of another graph", path, file.weights);
    }
  }
  for (std::size_t i = 0; i < file.keys.size(); ++i) {
    if (file.keys[i].empty()) continue;
    const Type& type = state.graph.type(state.graph.inputs[i].value);
    Tensor tensor;
    GROOVE_CHECK(!file.weights.empty() && archive.try_read(file.keys[i], tensor),
                 "load: {}: the weight '{}' is not in {}", path, file.keys[i],
                 file.weights.empty() ? "any file" : file.weights);
    const Type found{tensor.scalar_type(), Shape(tensor.sizes())};
    GROOVE_CHECK(found == type, "load: {}: the weight '{}' is {}{} in {}, the graph wants {}{}",
                 path, file.keys[i], short_name(found.dtype), to_string(found.sizes), file.weights,
                 short_name(type.dtype), to_string(type.sizes));
    state.weights[i] = tensor;
  }
  return Graph(std::move(file.state));
}

}  // namespace groove::jit
