// Walks the nodes of a group in order, and from each operand through views to a member of the
// group, a constant or a numbered value.
#include "jit/group_form.h"

#include <algorithm>

namespace groove::jit {
namespace {

enum class Reference : std::int64_t { kNone, kView, kMember, kConstant, kValue };

class Former {
 public:
  Former(const Graph& graph, const Fusion& fusion, const std::vector<BufferId>& buffer_of,
         const Group& group, std::int32_t group_id)
      : graph_(graph), fusion_(fusion), buffer_of_(buffer_of), group_(group), id_(group_id) {}

  GroupForm run() {
    form_.words.reserve(64 * group_.nodes.size());
    add(static_cast<std::int64_t>(group_.kind));
    add(group_.is_split);
    add(group_.is_short);
    add_list(group_.loop.sizes);
    add_list(group_.loop.is_reduced);
    add_list(group_.matrix_axis);
    add(local(group_.seed));
    add_list(group_.nodes, [&](std::int32_t index) { add_member(index); });
    return std::move(form_);
  }

 private:
  const Node& node(std::int32_t index) const {
    return graph_.nodes[static_cast<std::size_t>(index)];
  }
  void add(std::int64_t word) { form_.words.push_back(word); }
  template <typename List, typename Each>
  void add_list(const List& list, const Each& each) {
    add(static_cast<std::int64_t>(list.size()));
    for (const auto& item : list) each(item);
  }
  template <typename List>
  void add_list(const List& list) {
    add_list(list, [&](auto item) { add(static_cast<std::int64_t>(item)); });
  }
  std::int64_t local(std::int32_t index) const {
    const auto& nodes = group_.nodes;
    return std::lower_bound(nodes.begin(), nodes.end(), index) - nodes.begin();
  }
  template <typename Id>
  std::int64_t count_as(std::vector<Id>& known, Id id) {
    const auto found = std::find(known.begin(), known.end(), id);
    const std::int64_t number = found - known.begin();
    if (found == known.end()) known.push_back(id);
    return number;
  }

  void add_member(std::int32_t index) {
    add_call(node(index));
    add(static_cast<std::int64_t>(fusion_.span_of[static_cast<std::size_t>(index)]));
    for (const ValueId id : node(index).inputs) add_operand(id);
    for (const ValueId id : node(index).outputs) {
      add_type(graph_.type(id));
      const bool is_stored = fusion_.is_stored[static_cast<std::size_t>(id)] != 0;
      add(is_stored);
      if (is_stored) add_target(id);
    }
  }
  void add_target(ValueId id) {
    const Placement& placement = fusion_.placements[static_cast<std::size_t>(id)];
    const bool is_placed = placement.whole != kNoValue;
    add(is_placed);
    add_geometry(is_placed ? placement.region : memory_geometry(graph_, id));
    add_value(is_placed ? placement.whole : id);
  }
  // The recorded value of a run-time number is nothing a launch depends on.
  void add_call(const Node& call) {
    add(call.op->id);
    add_list(call.attrs.words());
    add_list(call.numbers, [&](const NumberRef& number) {
      if (number.entry >= 0) {
        add(count_as(form_.entries, number.entry));
        add(static_cast<std::int64_t>(graph_.numbers[static_cast<std::size_t>(number.entry)]));
      } else {
        add(-1);
        add(static_cast<std::int64_t>(number.constant.type()));
        add(static_cast<std::int64_t>(number.constant.bits_as(number.constant.type())));
      }
    });
  }
  void add_operand(ValueId id) {
    if (id == kNoValue) return add(Reference::kNone);
    for (; is_view(graph_, id); id = node(producer(id)).inputs[0]) {
      add(Reference::kView);
      add_call(node(producer(id)));
      add_type(graph_.type(id));
    }
    const std::int32_t from = producer(id);
    if (from >= 0 && fusion_.group_of[static_cast<std::size_t>(from)] == id_) {
      add(Reference::kMember);
      add(local(from));
      add(graph_.values[static_cast<std::size_t>(id)].output);
      return;
    }
    const bool is_constant = from >= 0 && is_splat(node(from));
    add(is_constant ? Reference::kConstant : Reference::kValue);
    add_type(graph_.type(id));
    if (is_constant) return add_call(node(from));
    add_geometry(memory_geometry(graph_, id));
    add_value(id);
  }
  std::int32_t producer(ValueId id) const {
    return graph_.values[static_cast<std::size_t>(id)].node;
  }
  void add(Reference reference) { add(static_cast<std::int64_t>(reference)); }
  void add_type(const Type& type) {
    add(static_cast<std::int64_t>(type.dtype));
    add_list(type.sizes);
  }
  void add_geometry(const Geometry& geometry) {
    add_list(geometry.sizes);
    add_list(geometry.strides);
    add(geometry.offset);
  }
  void add_value(ValueId id) {
    add(count_as(form_.buffers, buffer_of_[static_cast<std::size_t>(id)]));
  }

  const Graph& graph_;
  const Fusion& fusion_;
  const std::vector<BufferId>& buffer_of_;
  const Group& group_;
  const std::int32_t id_;
  GroupForm form_;
};

}  // namespace

GroupForm form_of(const Graph& graph, const Fusion& fusion, const std::vector<BufferId>& buffer_of,
                  const Group& group, std::int32_t group_id) {
  return Former(graph, fusion, buffer_of, group, group_id).run();
}

std::size_t GroupFormHash::operator()(const std::vector<std::int64_t>& words) const {
  std::uint64_t hash = words.size();
  for (const std::int64_t word : words) {
    hash = (hash ^ static_cast<std::uint64_t>(word)) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  return static_cast<std::size_t>(hash);
}

}  // namespace groove::jit
