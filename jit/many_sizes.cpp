// A graph that comes at many sizes: constants that may follow from them are numbers given to
// kernels, not part of their code, so that all sizes share it.
#include <bit>
#include <cmath>

#include "jit/pipeline.h"
#include "kernels/ops/structural.h"

namespace groove::jit {

void run_pipeline_for_many_sizes(Graph& graph) {
  static const Op* const full = find_op("full");
  run_pipeline(graph, Serves::kAnySizes);
  for (Node& node : graph.nodes) {
    if (node.op != &constant_op()) continue;
    const AttrReader attr(*node.op, node.attrs);
    const ScalarType dtype = attr.dtype(1);
    const auto bits = static_cast<std::uint64_t>(attr.integer(2));
    Scalar value;
    if (dtype == kFloat)
      value = Scalar(static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits))));
    else if (dtype == kDouble)
      value = Scalar(std::bit_cast<double>(bits));
    else if (dtype == kLong)
      value = Scalar(static_cast<std::int64_t>(bits));
    else
      continue;
    // What no size gives stays in the code.
    const double number = value.to_double();
    if (!std::isfinite(number) || number == 0 || std::fabs(number) == 1) continue;
    const Attrs attrs = Attrs().add(attr.integers(0)).add(dtype);
    node.op = full;
    node.numbers = {NumberRef{-1, value}};
    node.attrs = attrs;
  }
}

}  // namespace groove::jit
