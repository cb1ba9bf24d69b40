// autograd::Node: the tape as programs see it through grad_fn(). A view of a node is made when it
// is first asked for and lives as long as the node, so that programs can compare and count nodes.
#include <cctype>
#include <mutex>
#include <unordered_map>

#include "autodiff/tape.h"
#include "groove/autograd.h"
#include "src/core/check.h"

namespace groove {
namespace {

class ShownNode final : public autograd::Node {
 public:
  explicit ShownNode(const autodiff::Node& node) : node_(node) {}
  std::string name() const override;
  autograd::edge_list next_edges() const override { return autodiff::shown_edges(node_); }
  std::uint32_t num_inputs() const override { return node_.output_count; }
  std::uint64_t sequence_nr() const override { return node_.sequence; }

 private:
  autograd::variable_list apply(autograd::variable_list&&) override {
    GROOVE_CHECK(false, "Node: {} runs in backward() only; use autograd::grad()", name());
  }

  const autodiff::Node& node_;
};

// LibTorch names nodes after its operators, and counts the overloads that take a number from 1.
std::string ShownNode::name() const {
  if (node_.is_accumulator()) return "torch::autograd::AccumulateGrad";
  std::string_view op = node_.name();
  constexpr std::string_view kScalar = "_scalar";
  const bool takes_number = op.size() > kScalar.size() && op.ends_with(kScalar);
  if (takes_number) op.remove_suffix(kScalar.size());
  std::string result;
  bool starts_word = true;
  for (const char letter : op) {
    if (letter == '_') {
      starts_word = true;
      continue;
    }
    result +=
        starts_word ? static_cast<char>(std::toupper(static_cast<unsigned char>(letter))) : letter;
    starts_word = false;
  }
  return result + (takes_number ? "Backward1" : "Backward0");
}

struct Views {
  std::mutex mutex;
  std::unordered_map<const TapeNode*, std::unique_ptr<ShownNode>> of;
};
Views& views() {
  static Views& instance = *new Views;
  return instance;
}

}  // namespace

std::shared_ptr<autograd::Node> autodiff::shown(TapeNodePtr node) {
  if (!node) return nullptr;
  if (std::shared_ptr<autograd::Node> own = user_node(*node)) return own;
  autograd::Node* address = nullptr;
  {
    const std::lock_guard lock(views().mutex);
    std::unique_ptr<ShownNode>& view = views().of[node.get()];
    if (!view) view = std::make_unique<ShownNode>(static_cast<const Node&>(*node));
    address = view.get();
    node->is_shown = true;
  }
  return std::shared_ptr<autograd::Node>(address, [owner = std::move(node)](autograd::Node*) {});
}

void autodiff::forget_shown(const TapeNode& node) {
  const std::lock_guard lock(views().mutex);
  views().of.erase(&node);
}

autograd::edge_list autodiff::shown_edges(const Node& node) {
  autograd::edge_list result;
  for (std::uint32_t i = 0; i < node.edge_count; ++i) {
    Edge edge = node.edges[i];
    resolve(edge);
    result.push_back({shown(edge.node), edge.index, {}});
  }
  return result;
}

}  // namespace groove
