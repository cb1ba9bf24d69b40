// Node by node at first, compiled when a graph comes again.
#include "kernels/subgraph_run.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <deque>
#include <mutex>
#include <string_view>

#include "kernels/backend.h"
#include "kernels/node_values.h"
#include "src/core/check.h"
#include "src/core/fork.h"
#include "src/core/graph_ranges.h"

namespace groove::kernels {
namespace {

SubgraphCompiler compiler = nullptr;

// A graph that comes again is compiled.
constexpr std::uint64_t kRunsBeforeCompilation = 3;

// The finalizer of SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators",
// OOPSLA 2014) over the turn-th step from a key.
std::uint64_t mixed_key(std::uint64_t key, std::uint64_t turn) {
  std::uint64_t z = key + turn * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

// A tensor over memory that somebody else keeps.
Tensor borrow(void* data, const Type& type) {
  StoragePtr storage = make_storage();
  storage->data = data;
  storage->bytes = static_cast<std::size_t>(element_count(type.sizes)) * element_size(type.dtype);
  return Tensor(make_impl(std::move(storage),
                          Geometry{type.sizes, contiguous_strides(type.sizes), 0}, type.dtype));
}

}  // namespace

void register_subgraph_compiler(SubgraphCompiler registered) { compiler = registered; }

struct SubgraphRun::Entry {
  std::atomic<std::uint64_t> runs{0};
  std::mutex mutex;  // of what follows
  std::shared_ptr<const CompiledSubgraph> compiled;
  const Backend* backend = nullptr;  // that `compiled` was made for, or refused by
  std::once_flag has_draws;
  std::vector<DrawEntry> draws;

  static Entry& of(std::int64_t number) {
    static std::mutex& guard = *new std::mutex;
    static std::deque<Entry>& entries = *new std::deque<Entry>;
    const ForkGate gate;
    const std::lock_guard lock(guard);
    while (static_cast<std::int64_t>(entries.size()) <= number) entries.emplace_back();
    return entries[static_cast<std::size_t>(number)];
  }

  std::shared_ptr<const CompiledSubgraph> get(const Graph& graph) {
    const std::uint64_t run = runs.fetch_add(1, std::memory_order_relaxed);
    if (run < kRunsBeforeCompilation || !compiler) return nullptr;
    // While another thread compiles, this one goes on node by node.
    const std::unique_lock lock(mutex, std::try_to_lock);
    if (!lock) return nullptr;
    const Backend* const current = &current_backend();
    if (backend != current) {
      compiled = compiler(graph);
      backend = current;
    }
    if (!compiled) return nullptr;
    switch (compiled->state()) {
      case CompiledSubgraph::State::kReady:
        return compiled;
      case CompiledSubgraph::State::kDropped:  // when it comes again often enough, once more
        compiled.reset();
        backend = nullptr;
        runs.store(0, std::memory_order_relaxed);
        break;
      case CompiledSubgraph::State::kImpossible:
      case CompiledSubgraph::State::kComing:
        break;
    }
    return nullptr;
  }
};

SubgraphRun::SubgraphRun(std::int64_t number, ArrayRef<Scalar> numbers)
    : graph_(interned_graph(number)), entry_(Entry::of(number)) {
  GROOVE_ASSERT(numbers.size() == graph_.numbers.size(), "subgraph {}: {} numbers for {}", number,
                numbers.size(), graph_.numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers_.push_back(numbers[i].with_origin(-1));
    words_.push_back(numbers_.back().bits_as(graph_.numbers[i]));
  }
  {
    const ForkGate gate;
    std::call_once(entry_.has_draws, [this] { entry_.draws = draws_of(graph_); });
  }
  for (const DrawEntry& pair : entry_.draws)
    draws_.push_back({pair, Draw{words_[static_cast<std::size_t>(pair.seed)],
                                 words_[static_cast<std::size_t>(pair.draw)]}});
}

void SubgraphRun::set_number(std::int32_t entry, std::uint64_t value) {
  words_[static_cast<std::size_t>(entry)] = value;
  numbers_[static_cast<std::size_t>(entry)] = static_cast<std::int64_t>(value);
}

void SubgraphRun::skip_draws(std::uint64_t count) {
  for (const auto& [entry, given] : draws_) set_number(entry.draw, given.number + count);
}

void SubgraphRun::key_draws(std::uint64_t turn) {
  for (const auto& [entry, given] : draws_)
    set_number(entry.seed, turn == 0 ? given.seed : mixed_key(given.seed, turn));
}

void SubgraphRun::operator()(ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs) {
  if (!compiled_) {
    compiled_ = entry_.get(graph_);
    if (!compiled_) return run_nodes(inputs, outputs);
    arena_ = allocate_storage(compiled_->arena_bytes());
  }
  buffers_.clear();
  for (const Tensor& input : inputs) buffers_.push_back(input.impl()->data());
  for (const Tensor& output : outputs) buffers_.push_back(output.impl()->data());
  const ArrayRef<void*> buffers(buffers_.data(), buffers_.size());
  // Host code that failed is asked for its error.
  if (!compiled_->run(buffers, words_, arena_->data)) run_nodes(inputs, outputs);
}

void SubgraphRun::run_nodes(ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs) const {
  NodeValues values(graph_, inputs);
  for (const Node& node : graph_.nodes) {
    const Tensors operands = values.operands(node);
    const std::vector<Scalar> numbers = numbers_of(node, numbers_);
    Tensors results(output_count(*node.op, node.attrs));
    dispatch_below(DispatchLayer::kAutodiff,
                   Call{node.op, operands, &node.attrs, numbers, Site::none()}, results.data());
    values.finish(node, std::move(results));
  }
  static const Op* const copy = find_op("copy");
  GROOVE_ASSERT(copy != nullptr);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const ValueId id = graph_.outputs[k].value;
    const Tensor target = borrow(outputs[k].impl()->data(), graph_.type(id));
    const Tensors operands{target, values[id]};
    const Attrs none{};
    Tensor written;
    dispatch_below(DispatchLayer::kAutodiff, Call{copy, operands, &none, {}, Site::none(), true},
                   &written);
  }
}

namespace {

// Entries of the draws of a node, as its own numbers; functions have theirs one after the other.
std::vector<DrawEntry> draws_in(const Node& node) {
  std::vector<DrawEntry> found;
  if (node.op->is_random) {
    const auto& names = node.op->number_names;
    for (std::size_t i = 0; i + 1 < names.size(); ++i)
      if (std::string_view(names[i]) == "seed")
        found.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(i) + 1});
    return found;
  }
  const AttrReader attr(*node.op, node.attrs);
  std::size_t first = 0;
  for (std::size_t field = 0; field < node.op->attributes.size(); ++field) {
    if (node.op->attributes[field].type != AttrType::kGraph) continue;
    const Graph& graph = interned_graph(attr.integer(field));
    // Derivatives share the numbers of what they are derivatives of.
    if (first + graph.numbers.size() > node.numbers.size()) break;
    const auto shift = static_cast<std::int32_t>(first);
    for (const DrawEntry& pair : draws_of(graph))
      found.push_back({pair.seed + shift, pair.draw + shift});
    first += graph.numbers.size();
  }
  return found;
}

}  // namespace

bool draws(const Node& node) { return !draws_in(node).empty(); }

std::vector<DrawEntry> draws_of(const Graph& graph) {
  std::vector<DrawEntry> found;
  for (const Node& node : graph.nodes) {
    for (const DrawEntry& pair : draws_in(node)) {
      const DrawEntry entry{node.numbers[static_cast<std::size_t>(pair.seed)].entry,
                            node.numbers[static_cast<std::size_t>(pair.draw)].entry};
      const bool is_known = std::find(found.begin(), found.end(), entry) != found.end();
      if (entry.seed >= 0 && entry.draw >= 0 && !is_known) found.push_back(entry);
    }
  }
  return found;
}

bool looks_at_values(const Graph& graph, const Node& node) {
  if (!node.op->check) return false;
  const ValueId read = node.inputs[static_cast<std::size_t>(node.op->check_reads)];
  if (read == kNoValue || !node.op->allowed) return read != kNoValue;
  const std::vector<Type> types = operand_types(graph, node);
  const std::vector<Scalar> numbers = recorded_numbers(graph, node);
  std::vector<std::pair<std::int32_t, std::uint64_t>> rests_on;
  const ValueRange range = range_of(graph, read, KnownNumbers{.words = nullptr, .read = &rests_on});
  return !rests_on.empty() ||
         !node.op->allowed(Signature{*node.op, types, node.attrs, numbers}).holds(range);
}

Tensor row_of(const Tensor& stack, std::int64_t index) {
  const TensorImpl& impl = *stack.impl();
  const Shape& sizes = impl.geometry.sizes;
  Type type{impl.dtype, Shape(IntArrayRef(sizes.data() + 1, sizes.size() - 1))};
  const auto bytes =
      element_count(type.sizes) * static_cast<std::int64_t>(element_size(type.dtype));
  return borrow(static_cast<char*>(impl.data()) + index * bytes, type);
}

Tensors make_outputs(const Graph& graph) {
  Tensors result;
  for (const GraphOutput& output : graph.outputs) {
    const Type& type = graph.type(output.value);
    result.push_back(make_empty(type.sizes, type.dtype));
  }
  return result;
}

}  // namespace groove::kernels
