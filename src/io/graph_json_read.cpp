// Reads JSON of which nothing is trusted: every field is looked at for its kind and range, and
// every node goes through its operator's type rule.
#include "src/io/graph_json.h"

#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "src/core/subgraph.h"

namespace groove::serialize {
namespace {

using Json = nlohmann::json;

// Where in the file a value stands: "graph.nodes[3].sizes".
struct Place {
  const Place* outer = nullptr;
  std::string step;
  std::string text() const { return outer ? outer->text() + step : step; }
};

class Reader {
 public:
  Reader(const Json& json, const Place& place, int depth)
      : json_(json), place_(place), depth_(depth) {}

  Graph run() {
    expect_object(json_, place_, {"inputs", "numbers", "stages", "nodes", "outputs"});
    read_inputs();
    if (const Json* numbers = find(json_, "numbers")) read_numbers(*numbers);
    if (const Json* stages = find(json_, "stages"))
      graph_.stages = static_cast<std::int32_t>(integer(*stages, at("stages"), 1, 1 << 20));
    const Json& nodes = list(json_, place_, "nodes");
    for (std::size_t i = 0; i < nodes.size(); ++i) read_node(nodes[i], at("nodes", i));
    const Json& outputs = list(json_, place_, "outputs");
    for (std::size_t i = 0; i < outputs.size(); ++i) read_output(outputs[i], at("outputs", i));
    return std::move(graph_);
  }
  std::vector<std::string> keys;              // per input
  std::vector<std::optional<Scalar>> values;  // per entry number

  [[noreturn]] static void fail(const Place& place, const std::string& reason) {
    throw_error(fmt::format("{}: {}", place.text(), reason));
  }
  static const Json* find(const Json& object, const char* field) {
    const auto found = object.find(field);
    return found == object.end() ? nullptr : &*found;
  }
  static void expect_object(const Json& json, const Place& place,
                            std::initializer_list<const char*> fields) {
    if (!json.is_object()) fail(place, "is not an object");
    for (const auto& item : json.items()) {
      bool is_known = false;
      for (const char* field : fields) is_known |= item.key() == field;
      if (!is_known) fail(place, fmt::format("has an unknown field '{}'", item.key()));
    }
  }
  static const Json& need(const Json& object, const Place& place, const char* field) {
    const Json* const found = find(object, field);
    if (!found) fail(place, fmt::format("lacks '{}'", field));
    return *found;
  }
  static std::string text(const Json& object, const Place& place, const char* field) {
    const Json& json = need(object, place, field);
    if (!json.is_string()) fail(place, fmt::format("'{}' is not a text", field));
    return json.get<std::string>();
  }
  static std::int64_t integer(const Json& json, const Place& place, std::int64_t least,
                              std::int64_t most) {
    if (!json.is_number_integer()) fail(place, "is not an integer");
    const bool is_huge = json.is_number_unsigned() &&
                         json.get<std::uint64_t>() >
                             static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (is_huge || json.get<std::int64_t>() < least || json.get<std::int64_t>() > most)
      fail(place, fmt::format("is {}, which is not between {} and {}", json.dump(), least, most));
    return json.get<std::int64_t>();
  }

 private:
  Place at(const char* field) const { return {&place_, fmt::format(".{}", field)}; }
  Place at(const char* field, std::size_t index) const {
    return {&place_, fmt::format(".{}[{}]", field, index)};
  }
  static const Json& list(const Json& object, const Place& place, const char* field) {
    const Json& json = need(object, place, field);
    if (!json.is_array()) fail(place, fmt::format("'{}' is not a list", field));
    return json;
  }
  static std::int64_t any_integer(const Json& json, const Place& place) {
    return integer(json, place, std::numeric_limits<std::int64_t>::min(),
                   std::numeric_limits<std::int64_t>::max());
  }
  static Shape integers(const Json& json, const Place& place) {
    if (!json.is_array()) fail(place, "is not a list");
    Shape values;
    for (const Json& value : json) values.push_back(any_integer(value, place));
    return values;
  }
  static ScalarType dtype(const Json& json, const Place& place) {
    if (!json.is_string()) fail(place, "is not the name of a dtype");
    const ScalarType found = dtype_of_short_name(json.get<std::string>());
    if (found == ScalarType::Undefined)
      fail(place, fmt::format("'{}' is not a dtype", json.get<std::string>()));
    return found;
  }
  static double real(const Json& json, const Place& place) {
    if (json.is_number()) return json.get<double>();
    const std::string text = json.is_string() ? json.get<std::string>() : "";
    char* end = nullptr;
    const std::uint64_t bits = std::strtoull(text.c_str(), &end, 16);
    if (text.size() != 18 || text.compare(0, 2, "0x") != 0 || *end != '\0')
      fail(place, "is neither a number nor the bits of one");
    return std::bit_cast<double>(bits);
  }
  static Scalar scalar(const Json& json, const Place& place) {
    if (json.is_boolean()) return Scalar(json.get<bool>());
    if (json.is_number_integer()) return Scalar(any_integer(json, place));
    return Scalar(real(json, place));
  }

  static Type type(const Json& json, const Place& place) {
    Type result;
    result.dtype = dtype(need(json, place, "dtype"), {&place, ".dtype"});
    result.sizes = integers(need(json, place, "sizes"), {&place, ".sizes"});
    check_sizes(place.text(), result);
    return result;
  }
  void define(const std::string& name, ValueId id, const Place& place) {
    if (name.empty()) fail(place, "has an empty name");
    if (!names_.emplace(name, id).second) fail(place, fmt::format("'{}' is defined twice", name));
    graph_.values[static_cast<std::size_t>(id)].name = name;
  }
  ValueId value(const Json& json, const Place& place) const {
    if (!json.is_string()) fail(place, "is not the name of a value");
    const auto found = names_.find(json.get<std::string>());
    if (found == names_.end())
      fail(place, fmt::format("'{}' is not defined before its use", json.get<std::string>()));
    return found->second;
  }

  void read_inputs() {
    const Json& inputs = list(json_, place_, "inputs");
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Place place = at("inputs", i);
      expect_object(inputs[i], place, {"name", "dtype", "sizes", "strides", "weight"});
      const Type type = Reader::type(inputs[i], place);
      Shape strides = contiguous_strides(type.sizes);
      if (const Json* given = find(inputs[i], "strides")) {
        strides = integers(*given, place);
        if (strides.size() != type.sizes.size()) fail(place, "strides and sizes differ in length");
        check_strides(place.text(), type, strides);
      }
      define(text(inputs[i], place, "name"), graph_.add_input(type, strides), place);
      keys.push_back(find(inputs[i], "weight") ? text(inputs[i], place, "weight") : "");
    }
  }

  void read_numbers(const Json& numbers) {
    if (!numbers.is_array()) fail(at("numbers"), "is not a list");
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const Place place = at("numbers", i);
      expect_object(numbers[i], place, {"dtype", "value"});
      graph_.numbers.push_back(dtype(need(numbers[i], place, "dtype"), place));
      if (graph_.numbers.back() != kDouble && graph_.numbers.back() != kLong)
        fail(place, "an entry number is f64 or i64");
      const Json* const given = find(numbers[i], "value");
      values.push_back(given ? std::optional(scalar(*given, place)) : std::nullopt);
    }
  }

  void read_node(const Json& json, const Place& place) {
    expect_object(
        json, place,
        {"op", "version", "inputs", "attributes", "numbers", "outputs", "file", "line", "stage"});
    const std::string name = text(json, place, "op");
    const Op* const op = find_op(name);
    if (!op || op->kind == OpKind::kBig)
      fail(place,
           fmt::format("there is no operator '{}'; was the file written by a later Groove?", name));
    const std::int64_t version =
        integer(need(json, place, "version"), {&place, ".version"}, 1, 1 << 30);
    if (version != op->version)
      fail(place, fmt::format("uses version {} of '{}'; this Groove has version {}", version, name,
                              op->version));
    const Json& inputs = list(json, place, "inputs");
    if (op->inputs >= 0 && inputs.size() != static_cast<std::size_t>(op->inputs))
      fail(place, fmt::format("{} takes {} operands, not {}", name, op->inputs, inputs.size()));
    std::vector<ValueId> operands;
    for (const Json& input : inputs)
      operands.push_back(input.is_null() ? kNoValue : value(input, place));
    Attrs attrs = attributes(*op, json, place);
    std::vector<NumberRef> numbers = numbers_of(*op, json, place);
    groove::Source line;
    if (find(json, "file")) line.file = lasting_text(text(json, place, "file"));
    if (const Json* number = find(json, "line"))
      line.line = static_cast<std::uint32_t>(integer(*number, {&place, ".line"}, 0, 1 << 30));
    std::int32_t stage = 0;
    if (const Json* number = find(json, "stage"))
      stage = static_cast<std::int32_t>(integer(*number, {&place, ".stage"}, 0, graph_.stages - 1));
    std::int32_t made = -1;
    try {
      made = graph_.add_node(*op, std::move(operands), std::move(attrs), std::move(numbers), line,
                             stage);
    } catch (const Error& error) {
      fail(place, error.msg());
    }
    const std::vector<ValueId> results = graph_.nodes[static_cast<std::size_t>(made)].outputs;
    const Json& outputs = list(json, place, "outputs");
    if (outputs.size() != results.size())
      fail(place, fmt::format("{} has {} results, not {}", name, results.size(), outputs.size()));
    for (std::size_t k = 0; k < results.size(); ++k) {
      const Place output{&place, fmt::format(".outputs[{}]", k)};
      expect_object(outputs[k], output, {"name", "dtype", "sizes"});
      const Type stated = type(outputs[k], output), &derived = graph_.type(results[k]);
      if (!(stated == derived))
        fail(output, fmt::format("is {}{}, but {} gives {}{}", short_name(stated.dtype),
                                 to_string(stated.sizes), name, short_name(derived.dtype),
                                 to_string(derived.sizes)));
      define(text(outputs[k], output, "name"), results[k], output);
    }
  }

  Attrs attributes(const Op& op, const Json& node, const Place& place) const {
    static const Json& none = *new Json(Json::object());
    const Json* const found = find(node, "attributes");
    const Json& json = found ? *found : none;
    if (!json.is_object()) fail(place, "'attributes' is not an object");
    if (json.size() != op.attributes.size())
      fail(place, fmt::format("{} takes {} attributes, not {}", op.name, op.attributes.size(),
                              json.size()));
    Attrs attrs;
    for (const AttrField& field : op.attributes) {
      const Place here{&place, fmt::format(".attributes.{}", field.name)};
      const Json& value = need(json, place, field.name);
      switch (field.type) {
        case AttrType::kInt:
          attrs.add(any_integer(value, here));
          break;
        case AttrType::kInts:
          attrs.add(IntArrayRef(integers(value, here)));
          break;
        case AttrType::kBool:
          if (!value.is_boolean()) fail(here, "is neither true nor false");
          attrs.add(std::int64_t{value.get<bool>()});
          break;
        case AttrType::kDtype:
          attrs.add(dtype(value, here));
          break;
        case AttrType::kDouble:
          attrs.add_double(real(value, here));
          break;
        case AttrType::kGraph:
          attrs.add(inner_graph(value, here));
          break;
      }
    }
    return attrs;
  }

  std::int64_t inner_graph(const Json& json, const Place& place) const {
    constexpr int kDeepest = 64;
    if (depth_ >= kDeepest) fail(place, "graphs are nested too deeply");
    Reader inner(json, place, depth_ + 1);
    Graph graph = inner.run();
    const std::string problem = jit::detail::problem_of(graph);
    if (!problem.empty()) fail(place, problem);
    return intern(std::move(graph));
  }

  std::vector<NumberRef> numbers_of(const Op& op, const Json& node, const Place& place) const {
    std::vector<NumberRef> numbers;
    const Json* const json = find(node, "numbers");
    if (json && !json->is_array()) fail(place, "'numbers' is not a list");
    for (std::size_t i = 0; json && i < json->size(); ++i) {
      const Json& number = (*json)[i];
      const Place here{&place, fmt::format(".numbers[{}]", i)};
      if (!number.is_object()) {
        numbers.push_back({-1, scalar(number, here)});
        continue;
      }
      expect_object(number, here, {"entry"});
      const auto entry =
          static_cast<std::int32_t>(integer(need(number, here, "entry"), here, 0,
                                            static_cast<std::int64_t>(graph_.numbers.size()) - 1));
      numbers.push_back({entry, values[static_cast<std::size_t>(entry)].value_or(Scalar())});
    }
    // Type rules read them, so they must be there. Those of control flow belong to its functions.
    bool has_functions = false;
    for (const AttrField& field : op.attributes) has_functions |= field.type == AttrType::kGraph;
    if (!has_functions && numbers.size() != op.number_names.size())
      fail(place, fmt::format("{} takes {} numbers, not {}", op.name, op.number_names.size(),
                              numbers.size()));
    return numbers;
  }

  void read_output(const Json& json, const Place& place) {
    expect_object(json, place, {"value", "writes", "stage"});
    GraphOutput output;
    output.value = value(need(json, place, "value"), place);
    if (const Json* writes = find(json, "writes")) {
      const Value& target = graph_.values[static_cast<std::size_t>(value(*writes, place))];
      if (target.node >= 0) fail(place, "only inputs can be overwritten");
      output.writes = target.output;
    }
    if (const Json* stage = find(json, "stage"))
      output.stage = static_cast<std::int32_t>(integer(*stage, place, 0, graph_.stages - 1));
    graph_.outputs.push_back(output);
  }

  const Json& json_;
  const Place& place_;
  const int depth_;
  Graph graph_;
  std::unordered_map<std::string, ValueId> names_;
};

}  // namespace

GraphFile read_graph_json(const std::string& text, const std::string& source) {
  const Place top{nullptr, fmt::format("load: {}", source)};
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::exception& error) {
    Reader::fail(top, fmt::format("is no JSON: {}", error.what()));
  }
  Reader::expect_object(json, top, {"format", "version", "id", "weights", "draws", "graph"});
  if (Reader::text(json, top, "format") != kGraphFormat)
    Reader::fail(top, "is JSON, but not a graph of Groove's");
  const std::int64_t version =
      Reader::integer(Reader::need(json, top, "version"), {&top, ": version"}, 1, 1 << 30);
  if (version != kGraphVersion)
    Reader::fail(top, fmt::format("has version {} of the format; this Groove reads version {}",
                                  version, kGraphVersion));
  GraphFile file;
  file.id = Reader::text(json, top, "id");
  if (Reader::find(json, "weights")) file.weights = Reader::text(json, top, "weights");
  // The file lies beside this one and nowhere else.
  if (file.weights.find('/') != std::string::npos || file.weights == "..")
    Reader::fail(top,
                 fmt::format("'weights' names '{}', which is not a file beside it", file.weights));
  const Place place{&top, ": graph"};
  Reader reader(Reader::need(json, top, "graph"), place, 0);
  Graph graph = reader.run();
  const std::string problem = jit::detail::problem_of(graph);
  if (!problem.empty()) Reader::fail(top, problem);
  file.keys = std::move(reader.keys);
  file.state = std::make_unique<jit::detail::GraphState>(std::move(graph));
  file.state->numbers = std::move(reader.values);
  if (const Json* draws = Reader::find(json, "draws"))
    file.state->draws = static_cast<std::uint64_t>(
        Reader::integer(*draws, {&top, ": draws"}, 0, std::int64_t{1} << 60));
  return file;
}

}  // namespace groove::serialize
