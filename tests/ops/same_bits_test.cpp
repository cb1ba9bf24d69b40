// Every op, dtype and sample on every tier, by eager mode and as a compiled program of one node,
// against eager mode on the interpreter with dense inputs: bit for bit, from memory of all layouts,
// and the same with storages that end at pages which may not be touched. There are no exceptions.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstring>

#include "jit/pipeline.h"
#include "jit/program.h"
#include "src/core/allocator.h"
#include "support.h"

namespace groove::testing {
namespace {

constexpr int kShards = 8;
constexpr std::size_t kLeast = 40;      // comparisons of an op and dtype on each tier
constexpr std::size_t kLeastRounds = 8; // over all samples

struct GuardPages {
  explicit GuardPages(bool is_on) { set_guard_pages(is_on); }
  ~GuardPages() { set_guard_pages(false); }
};

std::vector<kernels::Backend*> usable_backends() {
  std::vector<kernels::Backend*> backends;
  for (const char* name : {"interpreter", "asmjit", "llvm"}) {
    kernels::Backend* const backend = kernels::find_backend(name);
    const std::string problem = backend ? backend->unavailable() : "it is not part of this build";
    if (problem.empty()) {
      backends.push_back(backend);
    } else {
      fmt::print("not compared: {}, because {}\n", name, problem);
    }
  }
  return backends;
}

// One call, with all that its round chose.
struct Case {
  const Op& op;
  const Sample& sample;
  Lay lay;
  Content content;
  std::uint64_t round;
};

std::string describe(const Case& each) {
  return fmt::format("{}, memory {}, content {}, round {}", testing::describe(each.op, each.sample),
                     static_cast<int>(each.lay), static_cast<int>(each.content), each.round);
}

// The op as the only node of a graph, through the pipeline. In turn its numbers are constants and
// run-time numbers, and its result is memory of its own and that of the input it may overwrite.
Tensors run_compiled(const Case& each, const Tensors& inputs) {
  const Op& op = each.op;
  const bool has_entries = each.round % 2 == 1;
  Graph graph;
  std::vector<ValueId> operands;
  std::vector<void*> buffers;
  std::vector<std::int32_t> inputs_at;  // [operand]: its graph input
  for (const Tensor& input : inputs) {
    inputs_at.push_back(static_cast<std::int32_t>(graph.inputs.size()));
    if (!input.defined()) {
      operands.push_back(kNoValue);
      continue;
    }
    const TensorImpl& impl = *input.impl();
    operands.push_back(
        graph.add_input({impl.dtype, impl.geometry.sizes}, impl.geometry.strides));
    buffers.push_back(impl.data());
  }
  std::vector<NumberRef> numbers;
  std::vector<std::uint64_t> words;
  for (const Scalar& number : each.sample.numbers) {
    if (!has_entries) {
      numbers.push_back({-1, number});
      continue;
    }
    numbers.push_back({static_cast<std::int32_t>(words.size()), number});
    graph.numbers.push_back(number.isFloatingPoint() ? kDouble : kLong);
    const double real = number.to_double();
    std::uint64_t word = static_cast<std::uint64_t>(number.to_int());
    if (number.isFloatingPoint()) std::memcpy(&word, &real, sizeof(word));
    words.push_back(word);
  }
  const std::int32_t node =
      graph.add_node(op, operands, each.sample.attrs, std::move(numbers));
  Tensors results;
  const std::vector<ValueId> values = graph.nodes[static_cast<std::size_t>(node)].outputs;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const Type type = graph.type(values[k]);
    const std::size_t target = k < op.mutates.size() ? static_cast<std::size_t>(op.mutates[k]) : 0;
    const bool is_written = op.has_inplace && each.round % 3 == 2 && !inputs.empty() &&
                            k < op.mutates.size() && each.lay != Lay::kOverlapping &&
                            inputs[target].defined() && each.sample.inputs[target] == type;
    graph.outputs.push_back({values[k], is_written ? inputs_at[target] : -1, 0});
    results.push_back(is_written ? inputs[target] : make_empty(type.sizes, type.dtype));
    if (!is_written) buffers.push_back(results.back().impl()->data());
  }
  jit::run_pipeline(graph);
  const jit::Program program(std::move(graph));
  const StoragePtr arena =
      allocate_storage((std::max<std::size_t>(program.arena_bytes(), 1) + 63) / 64 * 64);
  std::memset(arena->data, 0xff, program.arena_bytes());
  ProgramContext context;
  context.arena = arena->data;
  const std::int32_t status = program.run(buffers.data(), nullptr, words.data(), context);
  if (status != 0) throw Error(fmt::format("program status {}", status));
  return results;
}

class Comparison {
 public:
  explicit Comparison(std::vector<kernels::Backend*> backends) : backends_(std::move(backends)) {}

  void check(const Op& op, ScalarType dtype) {
    const std::vector<Sample> samples = op.samples(dtype);
    ASSERT_FALSE(samples.empty()) << op.name;
    std::size_t count = 0;
    const std::size_t rounds =
        std::max(kLeastRounds, (kLeast + samples.size() - 1) / samples.size());
    for (std::size_t round = 0; round < rounds || (count < kLeast && round < 8 * rounds); ++round) {
      for (std::size_t i = 0; i < samples.size(); ++i) {
        const std::size_t turn = round + i;
        const Case each{op, samples[i], kLays[turn % std::size(kLays)],
                        kContents[(round + i / std::size(kLays)) % std::size(kContents)], round};
        SCOPED_TRACE(describe(each));
        try {
          if (compare(each)) ++count;
        } catch (const Error& error) {
          ADD_FAILURE() << error.what();
        }
      }
    }
    EXPECT_GE(count, kLeast) << op.name << " " << name(dtype);
    ++pairs_;
    comparisons_ += count;
  }

  std::size_t pairs() const { return pairs_; }
  std::size_t comparisons() const { return comparisons_; }

 private:
  static Tensors inputs_of(const Case& each) {
    return make_inputs(each.op, each.sample, each.lay, each.content, each.round);
  }

  // False when the op refuses these values.
  bool compare(const Case& each) {
    const Tensors strided = inputs_of(each);
    if (is_refused(each.op, each.sample, strided)) return false;
    Tensors dense;
    for (const Tensor& input : strided) dense.push_back(dense_copy(input));
    kernels::set_current_backend(*backends_[0]);
    const Tensors expected = run(each.op, each.sample, dense);
    // Memory may refuse a view of it, which is then one of a copy.
    const bool is_view = each.op.kind == OpKind::kView;
    for (kernels::Backend* backend : backends_) {
      kernels::set_current_backend(*backend);
      same(expected, run(each.op, each.sample, is_view ? dense : strided), *backend, "eager");
      same(expected, run_compiled(each, inputs_of(each)), *backend, "compiled");
    }
    return true;
  }

  static void same(const Tensors& expected, const Tensors& actual, const kernels::Backend& backend,
                   const char* way) {
    ASSERT_EQ(expected.size(), actual.size());
    for (std::size_t k = 0; k < actual.size(); ++k)
      EXPECT_EQ(bit_difference(actual[k], expected[k]), "")
          << way << " on " << const_cast<kernels::Backend&>(backend).name() << ", output " << k;
  }

  const std::vector<kernels::Backend*> backends_;
  std::size_t pairs_ = 0, comparisons_ = 0;
};

// The registry in parts, so that ctest runs them side by side.
class SameBits : public ::testing::TestWithParam<std::tuple<bool, int>> {};

TEST_P(SameBits, EveryOpOnEveryTier) {
  const auto [has_guard_pages, shard] = GetParam();
  const BackendScope scope;
  const GuardPages guard_pages(has_guard_pages);
  const std::vector<kernels::Backend*> backends = usable_backends();
  ASSERT_FALSE(backends.empty());
  Comparison comparison(backends);
  int ops = 0;
  for (const Op* op : all_ops()) {
    if (!op->samples || !is_wanted(*op) || op->id % kShards != shard) continue;
    ++ops;
    for (const ScalarType dtype : op->dtypes) comparison.check(*op, dtype);
  }
  fmt::print("{} ops, {} pairs of op and dtype, {} comparisons on each of {} tiers in 2 ways{}\n",
             ops, comparison.pairs(), comparison.comparisons(), backends.size(),
             has_guard_pages ? ", at guard pages" : "");
  RecordProperty("ops", ops);
  RecordProperty("pairs", static_cast<int>(comparison.pairs()));
  RecordProperty("comparisons", static_cast<int>(comparison.comparisons()));
  RecordProperty("backends", static_cast<int>(backends.size()));
}

INSTANTIATE_TEST_SUITE_P(Registry, SameBits,
                         ::testing::Combine(::testing::Bool(), ::testing::Range(0, kShards)));

}  // namespace
}  // namespace groove::testing
