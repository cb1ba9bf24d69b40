// A factor for each channel of a convolution's result scales its weights instead, and a mean taken
// off before goes behind: (conv(x, w) - m) * s becomes conv(x, w * s) - m * s, which is what a
// batch norm over given statistics comes to. Fast only: each element then differs by the roundings
// of the scaled weights and of m * s, at most 2 units in the last place of the sum of the
// magnitudes of its terms, |m * s| being one of them, where nothing overflows or underflows. Needs:
// expanded composites.  Keeps: inputs, outputs, places; leaves dead nodes behind.
#include <algorithm>

#include "groove/ops/math.h"
#include "groove/ops/views.h"
#include "jit/passes/passes.h"
#include "jit/passes/plain_operation.h"
#include "jit/rewrite.h"
#include "kernels/block_product.h"
#include "kernels/ops/graph_builder.h"

namespace groove::jit {
namespace {

// mul(of - mean, factor), the difference being left out where it is not there.
struct Scaled {
  const Node* product = nullptr;  // the convolution
  ValueId mean = kNoValue, factor = kNoValue;
};

class Finder {
 public:
  explicit Finder(const Graph& graph) : graph_(graph), reads_(graph.values.size(), 0) {
    for (const Node& node : graph.nodes) {
      for (const ValueId id : node.inputs) {
        if (id != kNoValue) ++reads_[static_cast<std::size_t>(id)];
      }
    }
    for (const GraphOutput& output : graph.outputs)
      ++reads_[static_cast<std::size_t>(output.value)];
  }

  Scaled find(const Node& node) const {
    if (!computes(node, kernels::Prim::kMul)) return {};
    for (const std::size_t side : {0, 1}) {
      Scaled found;
      found.factor = node.inputs[1 - side];
      if (!is_along_channels(found.factor, node)) continue;
      const Node* inner = read_once(node.inputs[side]);
      if (inner && computes(*inner, kernels::Prim::kSub) &&
          is_along_channels(inner->inputs[1], *inner)) {
        found.mean = inner->inputs[1];
        inner = read_once(inner->inputs[0]);
      }
      if (!inner || !(graph_.type(inner->outputs[0]) == graph_.type(node.outputs[0]))) continue;
      const kernels::BlockProduct* const how = kernels::block_product(*inner->op);
      if (!how || !how->has_rows_of_second) continue;
      found.product = inner;
      return found;
    }
    return {};
  }

 private:
  // The primitive on two operands of one dtype, in their order.
  bool computes(const Node& node, kernels::Prim prim) const {
    if (node.inputs.size() != 2 || !node.numbers.empty() || !node.attrs.words().empty())
      return false;
    const Type& type = graph_.type(node.outputs[0]);
    if (type.dtype != kFloat && type.dtype != kDouble) return false;
    for (const ValueId id : node.inputs) {
      if (graph_.type(id).dtype != type.dtype) return false;
    }
    const Operation& operation = operation_of(*node.op, type.dtype);
    return operation.is_known && !operation.function && operation.prim == prim &&
           operation.operands == std::vector<int>{0, 1};
  }
  // One number for each of axis 1 of the node's result.
  bool is_along_channels(ValueId value, const Node& node) const {
    const Shape& sizes = graph_.type(value).sizes;
    const Shape& all = graph_.type(node.outputs[0]).sizes;
    if (all.size() < 2 || sizes.size() > all.size() || sizes.size() + 1 < all.size()) return false;
    const std::size_t channels = sizes.size() + 1 - all.size();
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] != (i == channels ? all[1] : 1)) return false;
    }
    return true;
  }
  const Node* read_once(ValueId value) const {
    return reads_[static_cast<std::size_t>(value)] == 1 ? producer_of(graph_, value) : nullptr;
  }

  const Graph& graph_;
  std::vector<std::int32_t> reads_;  // per value, by nodes and outputs
};

ValueId folded(Rewriter& rewriter, const Node& node, const std::vector<ValueId>& operands,
               const Scaled& scaled, std::size_t rank) {
  kernels::GraphBuilder builder(rewriter.graph());
  builder.set_context(node.source, node.stage, nullptr);
  Tensor result;
  builder.record([&] {
    const Tensor factor = builder.tensor(rewriter.renamed(scaled.factor));
    Shape rows(rank, 1);
    rows[0] = factor.numel();
    Tensor terms[] = {builder.tensor(operands[0]),
                      builder.tensor(operands[1]) * factor.reshape(rows)};
    dispatch(Call{scaled.product->op, terms, &scaled.product->attrs, {}, Site::current()}, &result);
    if (scaled.mean != kNoValue)
      result = result - builder.tensor(rewriter.renamed(scaled.mean)) * factor;
  });
  return builder.value(result);
}

}  // namespace

bool fold_into_weights(Graph& graph) {
  std::vector<Scaled> found(graph.nodes.size());
  bool has_any = false;
  {
    const Finder finder(graph);
    for (std::size_t i = 0; i < found.size(); ++i) {
      found[i] = finder.find(graph.nodes[i]);
      has_any |= found[i].product != nullptr;
    }
  }
  if (!has_any) return false;
  // The rewriter takes the nodes away one by one.
  std::vector<Node> products(found.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!found[i].product) continue;
    products[i] = *found[i].product;
    found[i].product = &products[i];
  }
  Rewriter rewriter(std::move(graph));
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Node& node = rewriter.from().nodes[i];
    if (!found[i].product) {
      rewriter.copy(static_cast<std::int32_t>(i));
      continue;
    }
    std::vector<ValueId> operands;
    for (const ValueId id : found[i].product->inputs) operands.push_back(rewriter.renamed(id));
    const std::size_t rank = rewriter.from().type(found[i].product->inputs[1]).sizes.size();
    const ValueId old = node.outputs[0];
    const ValueId fresh = folded(rewriter, node, operands, found[i], rank);
    std::string& name = rewriter.graph().values[static_cast<std::size_t>(fresh)].name;
    name = rewriter.from().values[static_cast<std::size_t>(old)].name;
    rewriter.rename(old, fresh);
  }
  graph = rewriter.finish();
  return true;
}

}  // namespace groove::jit
