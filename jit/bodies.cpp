// Calls that are alike but for their sizes, and what was counted for the first of each kind.
#include "jit/bodies.h"

#include <algorithm>

#include "jit/fusion.h"

namespace groove::jit {

double Bodies::instructions(std::int32_t node) {
  Example& known = example(node);
  if (known.instructions < 0) {
    known.instructions =
        body_instructions(graph_, graph_.nodes[static_cast<std::size_t>(known.node)]);
  }
  return known.instructions;
}

bool Bodies::is_dear(std::int32_t node) {
  Example& known = example(node);
  if (known.is_dear < 0)
    known.is_dear = jit::is_dear(graph_, graph_.nodes[static_cast<std::size_t>(known.node)]);
  return known.is_dear != 0;
}

Bodies::Example& Bodies::example(std::int32_t node) {
  std::size_t& known = example_of_[static_cast<std::size_t>(node)];
  if (known == kNone) {
    const Node& own = graph_.nodes[static_cast<std::size_t>(node)];
    const auto found = std::find_if(examples_.begin(), examples_.end(), [&](const Example& each) {
      return is_alike(own, graph_.nodes[static_cast<std::size_t>(each.node)]);
    });
    known = static_cast<std::size_t>(found - examples_.begin());
    if (found == examples_.end()) examples_.push_back({node});
  }
  return examples_[known];
}

bool Bodies::is_alike(const Node& a, const Node& b) const {
  if (a.op != b.op || !(a.attrs == b.attrs)) return false;
  const auto dtype = [&](ValueId id) {
    return id == kNoValue ? ScalarType::Undefined : graph_.type(id).dtype;
  };
  const auto is_same_dtype = [&](ValueId x, ValueId y) { return dtype(x) == dtype(y); };
  const auto kind = [&](const NumberRef& number) {
    return number.entry < 0 ? number.constant.type()
                            : graph_.numbers[static_cast<std::size_t>(number.entry)];
  };
  const auto is_same_number = [&](const NumberRef& x, const NumberRef& y) {
    return kind(x) == kind(y);
  };
  const auto equal = [](const auto& x, const auto& y, const auto& is_same) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), is_same);
  };
  return equal(a.inputs, b.inputs, is_same_dtype) && equal(a.outputs, b.outputs, is_same_dtype) &&
         equal(a.numbers, b.numbers, is_same_number);
}

}  // namespace groove::jit
