#include "src/io/graph_json.h"

#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>

#include "src/core/subgraph.h"

namespace groove::serialize {
namespace {

using Json = nlohmann::ordered_json;

Json real_json(double value) {
  if (std::isfinite(value)) return value;
  return fmt::format("{:#018x}", std::bit_cast<std::uint64_t>(value));
}

Json number_json(const Scalar& number) {
  if (number.isBoolean()) return number.toBool();
  if (number.isIntegral()) return number.to_int();
  return real_json(number.to_double());
}

Json list_json(IntArrayRef values) { return values.vec(); }

class Writer {
 public:
  Writer(const Graph& graph, ArrayRef<std::optional<Scalar>> values, ArrayRef<Tensor> weights)
      : graph_(graph), names_(value_names(graph)), values_(values), weights_(weights) {}

  Json run() const {
    Json json;
    json["inputs"] = Json::array();
    for (std::size_t i = 0; i < graph_.inputs.size(); ++i) json["inputs"].push_back(input(i));
    for (std::size_t i = 0; i < graph_.numbers.size(); ++i) {
      Json number = {{"dtype", short_name(graph_.numbers[i])}};
      if (i < values_.size() && values_[i]) number["value"] = number_json(*values_[i]);
      json["numbers"].push_back(std::move(number));
    }
    if (graph_.stages != 1) json["stages"] = graph_.stages;
    json["nodes"] = Json::array();
    for (const Node& node : graph_.nodes) json["nodes"].push_back(node_json(node));
    json["outputs"] = Json::array();
    for (const GraphOutput& output : graph_.outputs) {
      Json one = {{"value", name(output.value)}};
      if (output.writes >= 0)
        one["writes"] = name(graph_.inputs[static_cast<std::size_t>(output.writes)].value);
      if (output.stage != 0) one["stage"] = output.stage;
      json["outputs"].push_back(std::move(one));
    }
    return json;
  }

 private:
  const std::string& name(ValueId id) const { return names_[static_cast<std::size_t>(id)]; }

  Json value(ValueId id) const {
    const Type& type = graph_.type(id);
    return {
        {"name", name(id)}, {"dtype", short_name(type.dtype)}, {"sizes", list_json(type.sizes)}};
  }

  Json input(std::size_t index) const {
    const GraphInput& input = graph_.inputs[index];
    Json json = value(input.value);
    if (!(input.strides == contiguous_strides(graph_.type(input.value).sizes)))
      json["strides"] = list_json(input.strides);
    if (index < weights_.size() && weights_[index].defined()) json["weight"] = name(input.value);
    return json;
  }

  Json node_json(const Node& node) const {
    const Op& op = *node.op;
    Json json = {{"op", op.name}, {"version", op.version}, {"inputs", Json::array()}};
    for (const ValueId id : node.inputs)
      json["inputs"].push_back(id == kNoValue ? Json() : Json(name(id)));
    const AttrReader attr(op, node.attrs);
    for (std::size_t i = 0; i < op.attributes.size(); ++i)
      json["attributes"][op.attributes[i].name] = attribute(op, attr, i);
    for (const NumberRef& number : node.numbers) {
      if (number.entry >= 0)
        json["numbers"].push_back(Json{{"entry", number.entry}});
      else
        json["numbers"].push_back(number_json(number.constant.with_origin(-1)));
    }
    json["outputs"] = Json::array();
    for (const ValueId id : node.outputs) json["outputs"].push_back(value(id));
    if (node.source.line != 0) {
      const std::string file = node.source.file;
      json["file"] = file.substr(file.rfind('/') + 1);
      json["line"] = node.source.line;
    }
    if (node.stage != 0) json["stage"] = node.stage;
    return json;
  }

  static Json attribute(const Op& op, const AttrReader& attr, std::size_t field) {
    switch (op.attributes[field].type) {
      case AttrType::kInt:
        return attr.integer(field);
      case AttrType::kInts:
        return list_json(attr.integers(field));
      case AttrType::kBool:
        return attr.boolean(field);
      case AttrType::kDtype:
        return short_name(attr.dtype(field));
      case AttrType::kDouble:
        return real_json(attr.real(field));
      case AttrType::kGraph:
        return Writer(interned_graph(attr.integer(field)), {}, {}).run();
    }
    return {};
  }

  const Graph& graph_;
  const std::vector<std::string> names_;
  ArrayRef<std::optional<Scalar>> values_;
  ArrayRef<Tensor> weights_;
};

// FNV-1a: tells files that do not belong together, by mistake.
std::string id_of(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return fmt::format("{:016x}", hash);
}

}  // namespace

std::string graph_json(const jit::detail::GraphState& state, const std::string& weights) {
  const Graph graph = jit::detail::in_order(state);
  try {
    const Json body = Writer(graph, state.numbers, state.weights).run();
    Json json = {{"format", kGraphFormat}, {"version", kGraphVersion}, {"id", id_of(body.dump())}};
    if (!weights.empty()) json["weights"] = weights;
    if (state.draws != 0) json["draws"] = state.draws;
    json["graph"] = body;
    return json.dump(1) + "\n";
  } catch (const Json::exception&) {
    throw_error("save: a name in the graph is not valid UTF-8, which JSON demands");
  }
}

}  // namespace groove::serialize
