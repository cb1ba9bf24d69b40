// Every op, dtype and sample on every tier, by eager mode and as a compiled program of one node,
// against eager mode on the interpreter with dense inputs: bit for bit, from memory of all layouts,
// and the same with storages that end at pages which may not be touched. There are no exceptions.
// Each comparison draws an instruction set and a number of threads for each tier; with
// SAME_BITS=full (the target same_bits_full) it runs in all of them, and grown samples give every
// thread something to do.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <optional>

#include "groove/parallel.h"
#include "jit/pipeline.h"
#include "jit/program.h"
#include "kernels/machine.h"
#include "kernels/pool.h"
#include "src/core/allocator.h"
#include "support.h"

namespace groove::testing {
namespace {

constexpr int kShards = 8;
constexpr std::size_t kLeast = 40;              // comparisons of an op and dtype on each tier
constexpr std::size_t kLeastRounds = 8;         // over all samples
constexpr std::int64_t kMostElements = 100000;  // of a grown sample

struct GuardPages {
  explicit GuardPages(bool is_on) { set_guard_pages(is_on); }
  ~GuardPages() { set_guard_pages(false); }
};

// A tier with the instruction set of its code.
struct Tier {
  kernels::Backend* backend;
  kernels::Isa isa;
};

std::string describe(const Tier& tier) {
  const std::string name = tier.backend->name();
  return name == "interpreter" ? name : fmt::format("{} {}", name, kernels::name(tier.isa));
}

constexpr int kThreads[] = {1, 2, 3, 7};

bool is_full() {
  const char* const wanted = std::getenv("SAME_BITS");
  return wanted && std::string(wanted) == "full";
}

// Everything runs on as many threads as are set, however small the work is.
struct ThreadScope {
  ThreadScope() {
    constexpr int kMost = kThreads[std::size(kThreads) - 1];
    set_num_threads(kMost);
    kernels::set_machine({.threads = kMost});  // compiled programs have room for all of them
    kernels::set_never_serial(true);
  }
  ~ThreadScope() {
    kernels::set_never_serial(false);
    kernels::set_isa_limit(usual_isa);
    set_num_threads(1);
  }
  const kernels::Isa usual_isa = kernels::isa();
};

// The interpreter first: it is what the others are compared with.
std::vector<Tier> usable_tiers() {
  std::vector<Tier> tiers;
  for (const char* name : {"interpreter", "asmjit", "llvm"}) {
    kernels::Backend* const backend = kernels::find_backend(name);
    const std::string problem = backend ? backend->unavailable() : "it is not part of this build";
    if (!problem.empty()) {
      fmt::print("not compared: {}, because {}\n", name, problem);
      continue;
    }
    for (const kernels::Isa isa : {kernels::Isa::kAvx2, kernels::Isa::kAvx512}) {
      if (!kernels::has_isa(isa)) {
        fmt::print("not compared: {}, which this CPU lacks\n", kernels::name(isa));
      } else if (backend->name() != std::string("interpreter") || isa == kernels::Isa::kAvx2) {
        tiers.push_back({backend, isa});
      }
    }
  }
  return tiers;
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
    operands.push_back(graph.add_input({impl.dtype, impl.geometry.sizes}, impl.geometry.strides));
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
  const std::int32_t node = graph.add_node(op, operands, each.sample.attrs, std::move(numbers));
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
  jit::ProgramOptions options;
  options.is_never_serial = true;
  const jit::Program program(std::move(graph), options);
  const StoragePtr arena =
      allocate_storage((std::max<std::size_t>(program.arena_bytes(), 1) + 63) / 64 * 64);
  std::memset(arena->data, 0xff, program.arena_bytes());
  ProgramContext context;
  context.arena = arena->data;
  const std::int32_t status = program.run(buffers.data(), nullptr, words.data(), context);
  if (status != 0) throw Error(fmt::format("program status {}", status));
  return results;
}

// A sample whose sizes are multiplied, equal ones alike, until threads share its work; none when
// the op takes no other sizes.
std::optional<Sample> grown(const Op& op, const Sample& sample) {
  std::int64_t most = 0;
  for (const Type& type : sample.inputs) most = std::max(most, element_count(type.sizes));
  for (const std::int64_t factor : {64, 13, 5}) {
    Sample large = sample;
    std::int64_t count = 0;
    for (Type& type : large.inputs) {
      for (std::int64_t& size : type.sizes) size *= size > 1 ? factor : 1;
      count = std::max(count, element_count(type.sizes));
    }
    if (count > kMostElements || count == most) continue;
    try {
      const TypeResult result = op.type(Signature{op, large.inputs, large.attrs, large.numbers});
      std::int64_t results = 0;
      for (const Type& type : result.outputs) results += element_count(type.sizes);
      if (results <= kMostElements) return large;
    } catch (const Error&) {
    }
  }
  return std::nullopt;
}

struct Count {
  std::size_t pairs = 0, samples = 0, comparisons = 0, mismatches = 0;
};

class Comparison {
 public:
  Comparison(std::vector<Tier> tiers, bool is_odd) : tiers_(std::move(tiers)), odd_(is_odd) {}

  void check(const Op& op, ScalarType dtype) {
    const std::vector<Sample> samples = op.samples(dtype);
    ASSERT_FALSE(samples.empty()) << op.name;
    std::size_t count = 0;
    const std::size_t rounds =
        std::max(kLeastRounds, (kLeast + samples.size() - 1) / samples.size());
    for (std::size_t round = 0; round < rounds || (count < kLeast && round < 8 * rounds); ++round) {
      for (std::size_t i = 0; i < samples.size(); ++i) {
        const std::size_t turn = round + i;
        count += check({op, samples[i], kLays[turn % std::size(kLays)],
                        kContents[(round + i / std::size(kLays)) % std::size(kContents)], round});
      }
    }
    EXPECT_GE(count, kLeast) << op.name << " " << name(dtype);
    for (std::size_t i = 0, done = 0; i < samples.size() && done < (is_full() ? 3 : 1); ++i) {
      const std::optional<Sample> large = grown(op, samples[i]);
      if (!large) continue;
      ++done;
      check({op, *large, kLays[i % std::size(kLays)], kContents[i % std::size(kContents)], i});
    }
    ++count_.pairs;
  }

  const Count& count() const { return count_; }

 private:
  static Tensors inputs_of(const Case& each) {
    return make_inputs(each.op, each.sample, each.lay, each.content, each.round);
  }

  bool check(const Case& each) {
    SCOPED_TRACE(describe(each));
    try {
      if (!compare(each)) return false;
    } catch (const Error& error) {
      ++count_.mismatches;
      ADD_FAILURE() << error.what();
    }
    ++count_.samples;
    return true;
  }

  // False when the op refuses these values.
  bool compare(const Case& each) {
    const Tensors strided = inputs_of(each);
    if (is_refused(each.op, each.sample, strided)) return false;
    Tensors dense;
    for (const Tensor& input : strided) dense.push_back(dense_copy(input));
    kernels::set_current_backend(*tiers_[0].backend);
    set_num_threads(1);
    const Tensors expected = run(each.op, each.sample, dense);
    // Memory may refuse a view of it, which is then one of a copy.
    const Tensors& inputs = each.op.kind == OpKind::kView ? dense : strided;
    for (std::size_t t = 0; t < tiers_.size(); ++t) {
      if (!is_full() && !is_drawn(tiers_[t])) continue;
      kernels::set_current_backend(*tiers_[t].backend);
      kernels::set_isa_limit(tiers_[t].isa);
      for (const int threads : kThreads) {
        if (!is_full() && threads != kThreads[(turn_ / 2 + t) % std::size(kThreads)]) continue;
        set_num_threads(threads);
        const std::string where = fmt::format("{}, {} threads", describe(tiers_[t]), threads);
        same(expected, run(each.op, each.sample, inputs), "eager, " + where);
        same(expected, run_compiled(each, inputs_of(each)), "compiled, " + where);
      }
    }
    ++turn_;
    return true;
  }

  // One instruction set after the other; LLVM, which takes long to make code, has one for a dtype.
  bool is_drawn(const Tier& tier) const {
    if (tier.backend == tiers_[0].backend || !kernels::has_isa(kernels::Isa::kAvx512)) return true;
    const bool is_llvm = tier.backend == tiers_.back().backend;
    const bool is_wide_turn = (is_llvm ? count_.pairs + odd_ : turn_) % 2 == 0;
    return (tier.isa == kernels::Isa::kAvx512) == is_wide_turn;
  }

  void same(const Tensors& expected, const Tensors& actual, const std::string& way) {
    ++count_.comparisons;
    ASSERT_EQ(expected.size(), actual.size());
    for (std::size_t k = 0; k < actual.size(); ++k) {
      const std::string difference = bit_difference(actual[k], expected[k]);
      if (!difference.empty()) ++count_.mismatches;
      EXPECT_EQ(difference, "") << way << ", output " << k;
    }
  }

  const std::vector<Tier> tiers_;
  const std::size_t odd_;
  Count count_;
  std::size_t turn_ = 0;
};

// The registry in parts, so that ctest runs them side by side.
class SameBits : public ::testing::TestWithParam<std::tuple<bool, int>> {};

TEST_P(SameBits, EveryOpOnEveryTier) {
  const auto [has_guard_pages, shard] = GetParam();
  const BackendScope scope;
  const ThreadScope threads;
  const GuardPages guard_pages(has_guard_pages);
  const std::vector<Tier> tiers = usable_tiers();
  ASSERT_FALSE(tiers.empty());
  std::string names;
  for (const Tier& tier : tiers) names += (names.empty() ? "" : ", ") + describe(tier);
  Comparison comparison(tiers, has_guard_pages);
  int ops = 0;
  for (const Op* op : all_ops()) {
    if (!op->samples || !is_wanted(*op) || op->id % kShards != shard) continue;
    ++ops;
    for (const ScalarType dtype : op->dtypes) comparison.check(*op, dtype);
  }
  const Count& count = comparison.count();
  fmt::print(
      "{} ops, {} pairs of op and dtype, {} samples, eager and compiled on {}; {} threads{}: "
      "{} comparisons, {} mismatches\n",
      ops, count.pairs, count.samples, names, is_full() ? "1, 2, 3 and 7" : "1, 2, 3 or 7",
      has_guard_pages ? ", at guard pages" : "", count.comparisons, count.mismatches);
  RecordProperty("ops", ops);
  RecordProperty("pairs", static_cast<int>(count.pairs));
  RecordProperty("comparisons", static_cast<int>(count.comparisons));
}

INSTANTIATE_TEST_SUITE_P(Registry, SameBits,
                         ::testing::Combine(::testing::Bool(), ::testing::Range(0, kShards)));

}  // namespace
}  // namespace groove::testing
