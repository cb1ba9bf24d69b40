// What has been fused, and what parts have taken so far, of the signatures that each thread has
// met.
#include "eager/gradient.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "eager/composite.h"
#include "kernels/asmjit/isa.h"
#include "kernels/backend.h"
#include "kernels/ops/graph_builder.h"
#include "kernels/ops/widen.h"
#include "kernels/pool.h"
#include "src/core/check.h"
#include "src/core/hash.h"
#include "src/core/tensor_impl.h"
#include "src/core/thread_end.h"
#include "src/core/trace.h"

namespace groove::eager {
namespace {

using Clock = std::chrono::steady_clock;
using kernels::GraphBuilder;

// ---- signatures ----

using Key = SmallVector<std::int64_t, 64>;
struct HashOfKey {
  std::size_t operator()(const Key& key) const { return mixed_all(key.size(), key); }
};

void append(Key& key, const Tensor& tensor) {
  if (!tensor.defined()) return key.push_back(-1);
  const TensorImpl& impl = *tensor.impl();
  key.push_back(static_cast<std::int64_t>(impl.dtype) << 8 |
                static_cast<std::int64_t>(impl.geometry.sizes.size()));
  key.append(impl.geometry.sizes.data(), impl.geometry.sizes.size());
  key.append(impl.geometry.strides.data(), impl.geometry.strides.size());
}
void append(Key& key, const Type& type) {
  key.push_back(static_cast<std::int64_t>(type.dtype) << 8 |
                static_cast<std::int64_t>(type.sizes.size()));
  key.append(type.sizes.data(), type.sizes.size());
}

Key key_of(const Grad& grad) {
  Key key;
  key.push_back(grad.op.id);
  key.push_back(
      static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(&kernels::current_backend())) |
      static_cast<std::int64_t>(kernels::isa()));
  const auto& words = grad.attrs.words();
  key.push_back(static_cast<std::int64_t>(words.size() << 32 | grad.numbers.size() << 16 |
                                          grad.inputs.size()));
  key.append(words.data(), words.size());
  // Rules look at numbers, and pass them on as constants.
  for (const Scalar& number : grad.numbers) {
    const Scalar value = number.with_origin(-1);
    key.push_back(static_cast<std::int64_t>(value.type()));
    key.push_back(value.isFloatingPoint() ? std::bit_cast<std::int64_t>(value.to_double())
                                          : value.to_int());
  }
  for (std::size_t i = 0; i < grad.inputs.size(); ++i) {
    key.push_back(grad.needs[i] ? 1 : 0);
    append(key, grad.inputs[i]);
    if (!grad.inputs[i].defined()) append(key, grad.input_types[i]);
  }
  for (std::size_t k = 0; k < grad.output_types.size(); ++k) {
    append(key, grad.outputs[k]);
    if (!grad.outputs[k].defined()) append(key, grad.output_types[k]);
    append(key, grad.cotangents[k]);
  }
  return key;
}

// ---- programs ----

// What a program is given, and where its results go.
struct Fused {
  std::unique_ptr<const CompiledComposite> program;
  std::vector<std::size_t> reads;     // saved values that the rule asked for
  std::vector<std::int32_t> results;  // per input: an output of the program, or -1
  std::size_t outputs = 0;
  std::uint64_t operators = 0;  // that parts dispatch, a composite being one
  std::string name;
};

// Records what a rule calls, and counts it.
struct Recorder {
  GraphBuilder& builder;
  std::uint64_t& operators;
  int depth = 0;

  static void handle(void* self, const Call& call, Tensor* outputs) {
    Recorder& recorder = *static_cast<Recorder*>(self);
    if (recorder.depth == 0 && call.op->kind != OpKind::kView) ++recorder.operators;
    ++recorder.depth;
    recorder.builder.add(call, outputs);
    --recorder.depth;
  }
};

template <typename Use>
void for_each_operand(const Grad& grad, const Use& use) {
  for (const Tensor& input : grad.inputs) use(input);
  for (const Tensor& output : grad.outputs) use(output);
  for (const Tensor& cotangent : grad.cotangents) use(cotangent);
}

// Null when only parts can compute it, or are as good.
std::unique_ptr<Fused> fuse(const Grad& grad) {
  const GraphCompiler compile = registered_graph_compiler();
  if (!compile) return nullptr;
  auto fused = std::make_unique<Fused>();
  Graph graph;
  GraphBuilder builder(graph);
  Tensors operands;
  for_each_operand(grad, [&](const Tensor& tensor) {
    if (!tensor.defined()) return operands.push_back(Tensor());
    const TensorImpl& impl = *tensor.impl();
    operands.push_back(builder.tensor(
        graph.add_input(Type{impl.dtype, impl.geometry.sizes}, impl.geometry.strides)));
  });
  const std::size_t inputs = grad.inputs.size(), outputs = grad.outputs.size();
  const ArrayRef<Tensor> all(operands);
  const auto note = [](const void* reads, std::size_t place) {
    auto& list =
        *const_cast<std::vector<std::size_t>*>(static_cast<const std::vector<std::size_t>*>(reads));
    if (std::find(list.begin(), list.end(), place) == list.end()) list.push_back(place);
  };
  const Grad symbolic{grad.op,
                      grad.attrs,
                      grad.numbers,
                      all.slice(0, inputs),
                      all.slice(inputs, outputs),
                      all.slice(inputs + outputs, outputs),
                      grad.input_types,
                      grad.output_types,
                      grad.needs,
                      {},
                      note,
                      &fused->reads};
  try {
    Recorder recorder{builder, fused->operators};
    const DispatchOverride recording(&Recorder::handle, &recorder);
    const NoAutocast as_given;
    const Tensors results = kernels::gradient_of(symbolic);
    for (const Tensor& result : results) {
      fused->results.push_back(result.defined() ? static_cast<std::int32_t>(fused->outputs++) : -1);
      if (result.defined()) graph.outputs.push_back({builder.value(result), -1, 0});
    }
  } catch (const Error&) {
    return nullptr;  // a rule that looks at values
  }
  if (graph.outputs.empty()) return nullptr;
  fused->name = grad.op.name + " gradient";
  fused->program = compile(std::move(graph));
  return fused->program ? std::move(fused) : nullptr;
}

bool run(const Fused& fused, const Grad& grad, Tensors& results) {
  for (const std::size_t place : fused.reads)
    if (grad.before_read) grad.before_read(grad.saved, place);
  const TraceSpan span(fused.name.c_str(), Site::current());
  const kernels::FloatEnvironment environment;
  SmallVector<Borrowed, 12> operands;
  for_each_operand(grad, [&](const Tensor& tensor) {
    if (tensor.defined()) materialize(*tensor.impl());
    operands.push_back(tensor);
  });
  Tensors outputs(fused.outputs);
  if (!fused.program->run(as_tensors(operands.data(), operands.size()), outputs.data()))
    return false;
  results.resize(fused.results.size());
  for (std::size_t i = 0; i < results.size(); ++i)
    if (fused.results[i] >= 0)
      results[i] = std::move(outputs[static_cast<std::size_t>(fused.results[i])]);
  return true;
}

// ---- what a thread remembers ----

enum class State : std::uint8_t { kNew, kFused, kParts };
struct Entry {
  State state = State::kNew;
  Clock::duration of_parts{0};
  std::unique_ptr<const Fused> fused;
};
using Table = std::unordered_map<Key, std::shared_ptr<Entry>, HashOfKey>;
constexpr std::size_t kMostEntries = 2048;
constinit thread_local Table* own_table = nullptr;

Table& table() {
  if (!own_table) [[unlikely]] {
    at_thread_end(ThreadEndRank::kGradientTables, [] { delete std::exchange(own_table, nullptr); });
    own_table = new Table;
  }
  return *own_table;
}

// A rule may run others inside, so what it belongs to must outlive them.
std::shared_ptr<Entry> entry_of(const Grad& grad) {
  Key key = key_of(grad);
  Table& entries = table();
  if (const auto found = entries.find(key); found != entries.end()) return found->second;
  if (entries.size() >= kMostEntries) entries.clear();
  return entries.emplace(std::move(key), std::make_shared<Entry>()).first->second;
}

bool is_fusible(const Grad& grad) {
  if (grad.op.is_random || grad.op.accumulates || grad.op.kind == OpKind::kView) return false;
  bool is_plain = true;
  for_each_operand(grad, [&](const Tensor& tensor) {
    is_plain = is_plain && (!tensor.defined() ||
                            (tensor.impl()->numel > 0 && tensor.impl()->complex == nullptr));
  });
  return is_plain;
}

}  // namespace

Tensors gradient_of(const Grad& grad, std::uint64_t& operators) {
  operators = 0;
  if (!is_fusible(grad)) return kernels::gradient_of(grad);
  const std::shared_ptr<Entry> entry = entry_of(grad);
  if (entry->state == State::kNew && entry->of_parts >= parts_before_fusing()) {
    entry->fused = fuse(grad);
    entry->state = entry->fused ? State::kFused : State::kParts;
  }
  Tensors results;
  if (entry->state == State::kFused && run(*entry->fused, grad, results)) {
    operators = entry->fused->operators;
    return results;
  }
  if (entry->state != State::kNew) return kernels::gradient_of(grad);
  const auto start = Clock::now();
  results = kernels::gradient_of(grad);
  entry->of_parts += Clock::now() - start;
  return results;
}

}  // namespace groove::eager
