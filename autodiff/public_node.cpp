// autograd::Node: the tape as programs see it through grad_fn().
#include <cctype>

#include "autodiff/tape.h"
#include "groove/autograd.h"

namespace groove {

std::shared_ptr<autograd::Node> autodiff::shown(TapeNodePtr node) {
  autograd::Node* const address = node.get();
  if (!address) return nullptr;
  return std::shared_ptr<autograd::Node>(address, [owner = std::move(node)](autograd::Node*) {});
}

namespace autograd {
namespace {

const autodiff::Node& real(const Node& node) {
  return static_cast<const autodiff::Node&>(static_cast<const TapeNode&>(node));
}

}  // namespace

// LibTorch names nodes after its operators, and counts the overloads that take a number from 1.
std::string Node::name() const {
  const autodiff::Node& node = real(*this);
  if (node.is_accumulator()) return "torch::autograd::AccumulateGrad";
  std::string_view op = static_cast<const TapeNode&>(node).name();
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

edge_list Node::next_edges() const {
  const autodiff::Node& node = real(*this);
  edge_list result;
  for (std::uint32_t i = 0; i < node.edge_count; ++i) {
    autodiff::Edge edge = node.edges[i];
    autodiff::resolve(edge);
    result.push_back({autodiff::shown(edge.node), edge.index});
  }
  return result;
}

std::uint32_t Node::num_inputs() const { return real(*this).output_count; }
std::uint64_t Node::sequence_nr() const { return static_cast<const TapeNode&>(*this).sequence; }

}  // namespace autograd
}  // namespace groove
