// Each node's code runs on tensors without data, and what it dispatches is recorded in its place.
// Of nodes of one form only the first one's code runs; the others get copies of what it recorded.
#include "jit/expand_nodes.h"

#include <algorithm>
#include <unordered_map>

#include "jit/form.h"
#include "jit/rewrite.h"
#include "kernels/ops/graph_builder.h"
#include "src/core/check.h"
#include "src/core/number_watch.h"

namespace groove::jit {
namespace {

using Code = std::function<Tensors(const Signature&, ArrayRef<Tensor>)>;

class Expander {
 public:
  Expander(Graph&& graph, const Code& code)
      : code_(code),
        rewriter_(std::move(graph)),
        from_(rewriter_.from()),
        to_(rewriter_.graph()),
        form_(from_) {}

  Graph run(const std::function<bool(const Graph&, const Node&)>& is_meant) {
    for (std::size_t i = 0; i < from_.nodes.size(); ++i) {
      if (is_meant(from_, from_.nodes[i]))
        expand(from_.nodes[i]);
      else
        rewriter_.copy(static_cast<std::int32_t>(i));
    }
    return rewriter_.finish();
  }

 private:
  struct Original {
    std::vector<ValueId> operands;      // by number, new names
    std::vector<std::int32_t> entries;  // by number
    std::size_t first_node, end_node;
    ValueId first_value, end_value;
    std::vector<ValueId> results;
  };

  void expand(const Node& node) {
    read_form(node);
    const auto found = originals_.find(form_.words());
    const std::vector<ValueId> results =
        found == originals_.end() ? record(node) : repeat(found->second, node);
    GROOVE_ASSERT(results.size() == node.outputs.size(), "{}: results do not fit", node.op->name);
    for (std::size_t k = 0; k < results.size(); ++k) {
      GROOVE_ASSERT(to_.type(results[k]) == from_.type(node.outputs[k]),
                    "{}: the type of result {} is not its type rule's", node.op->name, k);
      rewriter_.rename(node.outputs[k], results[k]);
      std::string& name = to_.values[static_cast<std::size_t>(results[k])].name;
      if (name.empty()) name = from_.values[static_cast<std::size_t>(node.outputs[k])].name;
    }
  }

  void read_form(const Node& node) {
    form_.clear();
    operands_.clear();
    form_.add_call(node);
    form_.add_list(node.inputs, [&](ValueId id) {
      form_.add(id != kNoValue);
      if (id == kNoValue) return;
      form_.add_type(from_.type(id));
      form_.add_counted(operands_, rewriter_.renamed(id));
    });
  }

  std::vector<ValueId> record(const Node& node) {
    Original original{operands_, form_.entries(), to_.nodes.size(), 0, values(), 0, {}};
    kernels::GraphBuilder builder(to_);
    builder.set_context(node.source, node.stage, &node.numbers);
    Tensors inputs;
    for (const ValueId id : node.inputs) inputs.push_back(builder.tensor(rewriter_.renamed(id)));
    const std::vector<Type> types = operand_types(from_, node);
    std::vector<Scalar> numbers = recorded_numbers(from_, node);
    for (std::size_t k = 0; k < numbers.size(); ++k)
      numbers[k] = numbers[k].with_origin(static_cast<int>(k));
    const NumberWatch watch;
    const Tensors results = builder.record([&] {
      return code_(Signature{*node.op, types, node.attrs, numbers}, inputs);
    });
    for (const Tensor& result : results) original.results.push_back(builder.value(result));
    original.end_node = to_.nodes.size();
    original.end_value = values();
    const std::vector<ValueId> found = original.results;
    // Code that looked at the recorded value of a run-time number may do something else for
    // another.
    const bool has_looked = std::any_of(watch.read().begin(), watch.read().end(), [&](int number) {
      return node.numbers[static_cast<std::size_t>(number)].entry >= 0;
    });
    if (!has_looked) originals_.emplace(form_.words(), std::move(original));
    return found;
  }

  std::vector<ValueId> repeat(const Original& original, const Node& node) {
    const ValueId first_value = values();
    const auto renamed = [&](ValueId id) {
      if (id >= original.first_value && id < original.end_value)
        return first_value + (id - original.first_value);
      return id == kNoValue ? id : counterpart(id, original.operands, operands_);
    };
    for (std::size_t i = original.first_node; i < original.end_node; ++i) {
      Node copy = to_.nodes[i];
      copy.source = node.source;
      copy.stage = node.stage;
      for (NumberRef& number : copy.numbers) {
        if (number.entry >= 0)
          number.entry = counterpart(number.entry, original.entries, form_.entries());
      }
      for (ValueId& id : copy.inputs) id = renamed(id);
      for (ValueId& id : copy.outputs) {
        const Value& value = to_.values[static_cast<std::size_t>(id)];
        const Type type = value.type;
        id = to_.add_value(type, static_cast<std::int32_t>(to_.nodes.size()), value.output);
      }
      to_.nodes.push_back(std::move(copy));
    }
    std::vector<ValueId> results;
    for (const ValueId id : original.results) results.push_back(renamed(id));
    return results;
  }
  template <typename Id>
  static Id counterpart(Id id, const std::vector<Id>& from, const std::vector<Id>& to) {
    const auto at = std::find(from.begin(), from.end(), id) - from.begin();
    return to.at(static_cast<std::size_t>(at));
  }
  ValueId values() const { return static_cast<ValueId>(to_.values.size()); }

  const Code& code_;
  Rewriter rewriter_;
  const Graph& from_;
  Graph& to_;
  FormWriter form_;                // of the node that is expanded
  std::vector<ValueId> operands_;  // of it
  std::unordered_map<FormWords, Original, FormHash> originals_;
};

}  // namespace

bool expand_nodes(Graph& graph, const std::function<bool(const Graph&, const Node&)>& is_meant,
                  const Code& code) {
  if (std::none_of(graph.nodes.begin(), graph.nodes.end(),
                   [&](const Node& node) { return is_meant(graph, node); })) {
    return false;
  }
  graph = Expander(std::move(graph), code).run(is_meant);
  return true;
}

}  // namespace groove::jit
