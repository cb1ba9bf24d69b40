// Node by node at first, compiled when a graph comes again.
#include "kernels/subgraph_run.h"

#include <atomic>
#include <bit>
#include <deque>
#include <mutex>

#include "kernels/backend.h"
#include "src/core/check.h"
#include "src/core/graph_ranges.h"

namespace groove::kernels {
namespace {

SubgraphCompiler compiler = nullptr;

// A graph that comes again is compiled, one that runs long is promoted.
constexpr std::uint64_t kRunsBeforeCompilation = 3;
constexpr std::uint64_t kRunsBeforePromotion = 256;

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

  static Entry& of(std::int64_t number) {
    static std::mutex& guard = *new std::mutex;
    static std::deque<Entry>& entries = *new std::deque<Entry>;
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
    return compiled;
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
}

void SubgraphRun::operator()(ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs) {
  if (!compiled_) {
    compiled_ = entry_.get(graph_);
    if (!compiled_) return run_nodes(inputs, outputs);
    arena_ = allocate_storage(compiled_->arena_bytes());
  } else if (entry_.runs.fetch_add(1, std::memory_order_relaxed) == kRunsBeforePromotion) {
    compiled_->promote();
  }
  buffers_.clear();
  for (const Tensor& input : inputs) buffers_.push_back(input.impl()->data());
  for (const Tensor& output : outputs) buffers_.push_back(output.impl()->data());
  const ArrayRef<void*> buffers(buffers_.data(), buffers_.size());
  // Host code that failed is asked for its error.
  if (!compiled_->run(buffers, words_, arena_->data)) run_nodes(inputs, outputs);
}

void SubgraphRun::run_nodes(ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs) const {
  std::vector<std::int32_t> uses(graph_.values.size(), 0);
  for (const Node& node : graph_.nodes)
    for (const ValueId id : node.inputs)
      if (id != kNoValue) ++uses[static_cast<std::size_t>(id)];
  for (const GraphOutput& output : graph_.outputs) ++uses[static_cast<std::size_t>(output.value)];
  Tensors values(graph_.values.size());
  for (std::size_t i = 0; i < graph_.inputs.size(); ++i)
    values[static_cast<std::size_t>(graph_.inputs[i].value)] = inputs[i];
  for (const Node& node : graph_.nodes) {
    Tensors operands;
    for (const ValueId id : node.inputs)
      operands.push_back(id == kNoValue ? Tensor() : values[static_cast<std::size_t>(id)]);
    std::vector<Scalar> numbers;
    for (const NumberRef& number : node.numbers)
      numbers.push_back(number.entry < 0 ? number.constant
                                         : numbers_[static_cast<std::size_t>(number.entry)]);
    Tensors results(output_count(*node.op, node.attrs));
    dispatch_below(DispatchLayer::kAutodiff, Call{node.op, operands, &node.attrs, numbers, Site()},
                   results.data());
    for (std::size_t k = 0; k < results.size(); ++k)
      values[static_cast<std::size_t>(node.outputs[k])] = std::move(results[k]);
    for (const ValueId id : node.inputs)
      if (id != kNoValue && --uses[static_cast<std::size_t>(id)] == 0)
        values[static_cast<std::size_t>(id)].reset();
  }
  static const Op* const copy = find_op("copy");
  GROOVE_ASSERT(copy != nullptr);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const ValueId id = graph_.outputs[k].value;
    const Tensor target = borrow(outputs[k].impl()->data(), graph_.type(id));
    const Tensors operands{target, values[static_cast<std::size_t>(id)]};
    const Attrs none{};
    Tensor written;
    dispatch_below(DispatchLayer::kAutodiff, Call{copy, operands, &none, {}, Site(), true},
                   &written);
  }
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
