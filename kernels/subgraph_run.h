// Running interned graphs on real memory: how operators of control flow run their functions. The
// JIT registers what compiles a graph; without it nodes run one by one, with the same bits.
#pragma once

#include <memory>

#include "src/core/generator.h"
#include "src/core/subgraph.h"

namespace groove::kernels {

class CompiledSubgraph {
 public:
  enum class State : std::uint8_t { kComing, kReady, kImpossible, kDropped };
  virtual ~CompiledSubgraph() = default;
  virtual State state() const = 0;
  // What follows is for one that is ready, or was when its runs began.
  virtual std::size_t arena_bytes() const = 0;
  /// buffers: contiguous memory of every input, then of every output. Throws groove::Error of an
  /// operator that fails on values; false when host code in it failed.
  virtual bool run(ArrayRef<void*> buffers, ArrayRef<std::uint64_t> numbers, void* arena) const = 0;
};
/// Gives null for a graph that only its nodes, one by one, can compute. The code may come later.
using SubgraphCompiler = std::shared_ptr<const CompiledSubgraph> (*)(const Graph& graph);
void register_subgraph_compiler(SubgraphCompiler compiler);

/// Must this node look at values before it runs, as nothing proves that they are what it allows?
bool looks_at_values(const Graph& graph, const Node& node);

// Two entry numbers of a graph: what something random in it, or in a graph within, draws with.
struct DrawEntry {
  std::int32_t seed, draw;
  bool operator==(const DrawEntry&) const = default;
};
std::vector<DrawEntry> draws_of(const Graph& graph);
/// Does it draw, by itself or in a graph within?
bool draws(const Node& node);

// The runs of one graph with the same numbers. Outputs must not share memory with inputs.
class SubgraphRun {
 public:
  SubgraphRun(std::int64_t number, ArrayRef<Scalar> numbers);
  const Graph& graph() const { return graph_; }
  /// What it draws from now on lies `count` draws after that of the first run.
  void skip_draws(std::uint64_t count);
  /// From now on it draws with a key that follows from the given one and this number; 0 for that one.
  void key_draws(std::uint64_t turn);
  /// Contiguous tensors. Throws groove::Error of an op that fails on values.
  void operator()(ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs);

 private:
  void run_nodes(ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs) const;
  void set_number(std::int32_t entry, std::uint64_t value);

  struct Entry;
  const Graph& graph_;
  Entry& entry_;
  std::vector<std::uint64_t> words_;
  std::vector<Scalar> numbers_;
  std::vector<std::pair<DrawEntry, Draw>> draws_;  // with what was given for them
  std::shared_ptr<const CompiledSubgraph> compiled_;
  StoragePtr arena_;
  SmallVector<void*, 32> buffers_;
};

/// The memory of a contiguous tensor's slice `index` along its first axis, without a reference.
Tensor row_of(const Tensor& stack, std::int64_t index);
/// New contiguous tensors of the types of a graph's outputs.
Tensors make_outputs(const Graph& graph);

}  // namespace groove::kernels
