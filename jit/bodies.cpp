#include "jit/bodies.h"

#include "jit/fusion.h"

namespace groove::jit {

double Bodies::instructions(std::int32_t index) {
  double& known = instructions_[static_cast<std::size_t>(index)];
  if (known >= 0) return known;
  read_form(index);
  static auto& counted = *new KnownForms<double>;
  return known = counted.of(form_.words(), [&] {
    return body_instructions(graph_, graph_.nodes[static_cast<std::size_t>(index)]);
  });
}

double Bodies::saved_by_fours(std::int32_t index) {
  read_form(index);
  static auto& counted = *new KnownForms<double>;
  return counted.of(form_.words(), [&] {
    return jit::saved_by_fours(graph_, graph_.nodes[static_cast<std::size_t>(index)]);
  });
}

void Bodies::read_form(std::int32_t index) {
  const Node& node = graph_.nodes[static_cast<std::size_t>(index)];
  form_.clear();
  form_.add_call(node, FormWriter::Numbers::kKinds);
  form_.add_list(node.inputs, [this](ValueId id) { form_.add_dtype(id); });
  form_.add_list(node.outputs, [this](ValueId id) { form_.add_dtype(id); });
}

bool Bodies::is_dear(std::int32_t node) { return jit::is_dear(instructions(node)); }

}  // namespace groove::jit
