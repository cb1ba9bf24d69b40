// Random graphs as programs, fused and not, on one to three threads, against the interpreter node
// by node. A failure prints the seed and the graph, which groove-opt can read.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "groove/ops/contractions.h"
#include "groove/ops/creation.h"
#include "groove/ops/index.h"
#include "groove/ops/math.h"
#include "groove/ops/reductions.h"
#include "groove/ops/views.h"
#include "jit/launch_plan.h"
#include "kernels/backend.h"
#include "kernels/nest_driver.h"
#include "kernels/ops/graph_builder.h"
#include "kernels/ops/structural.h"
#include "kernels/pool.h"
#include "tests/passes/run_graph.h"

namespace groove::jit {
namespace {

class Generator {
 public:
  /// Tall: many rows of one length, whose sums down the columns come in chunks.
  explicit Generator(std::uint64_t seed, bool is_tall = false)
      : random_(seed), is_tall_(is_tall), builder_(graph_) {
    const auto chunks = static_cast<std::size_t>(std::min(kernels::this_machine().threads, 16));
    rows_ = 129 * static_cast<std::int64_t>(chunks - 1 + below(6));
    columns_ = 61 + static_cast<std::int64_t>(below(12));
  }

  Graph run(int nodes) {
    graph_.stages = 1 + static_cast<std::int32_t>(below(3));
    for (int i = 0; i < 4; ++i) add_input();
    graph_.numbers = {kDouble};
    const std::vector<NumberRef> origins{{0, Scalar(0.5)}};
    builder_.record([&] {
      for (int done = 0; done < nodes; ++done) {
        stage_ = done * graph_.stages / nodes;
        builder_.set_context({}, stage_, &origins);
        if (below(8) == 0) add_input();  // first used from here on
        step();
      }
    });
    add_outputs();
    return std::move(graph_);
  }

 private:
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_() % bound); }
  const Type& type(const Tensor& tensor) { return graph_.type(builder_.value(tensor)); }
  std::int64_t size() {
    const std::int64_t sizes[] = {1, 2, 3, 5, 17, 33};
    return sizes[below(6)];
  }

  void add_input() {
    Shape sizes;
    if (is_tall_) {
      const Shape some[] = {
          {rows_, columns_}, {rows_, columns_}, {rows_, 1}, {columns_}, {3, rows_ / 3, columns_}};
      sizes = some[below(5)];
    } else {
      for (std::size_t i = below(4); i > 0; --i) sizes.push_back(size());
    }
    Shape strides = contiguous_strides(sizes);
    if (sizes.size() == 2 && below(3) == 0) strides = Shape{1, sizes[0]};
    values_.push_back(builder_.tensor(graph_.add_input(Type{kFloat, sizes}, strides)));
  }
  Tensor pick() { return values_[below(values_.size())]; }

  void step() {
    const Tensor x = pick();
    const Shape sizes = type(x).sizes;
    const std::size_t rank = sizes.size();
    switch (below(20)) {
      case 0:
        return push(neg(x));
      case 1:
        return push(exp(x));
      case 2:
        return push(relu(x));
      case 3:
        return push(sigmoid(x));
      case 4:
        return push(mul(x, Scalar(0.5).with_origin(0)));
      case 5:
        return push(add(x, Scalar(1.5)));
      case 6:
      case 7:
      case 8:
        return binary(x);
      case 9:
      case 10:
        return reduce(x);
      case 11: {
        std::vector<std::int64_t> dims(rank);
        for (std::size_t i = 0; i < rank; ++i) dims[i] = static_cast<std::int64_t>(i);
        std::shuffle(dims.begin(), dims.end(), random_);
        return push(permute(x, dims));
      }
      case 12:
        return push(reshape(x, {-1}));
      case 13: {
        if (rank == 0) return;
        const auto dim = static_cast<std::int64_t>(below(rank));
        const auto half = (sizes[static_cast<std::size_t>(dim)] + 1) / 2;
        return push(slice(x, dim, sizes[static_cast<std::size_t>(dim)] - half,
                          sizes[static_cast<std::size_t>(dim)]));
      }
      case 14: {
        Shape wider = sizes;
        wider.insert(0, 3);
        return push(expand(x, wider));
      }
      case 15: {
        if (rank != 2) return;
        const Tensor y = pick();
        if (type(y).sizes.size() == 2 && type(y).sizes[0] == sizes[1]) return push(mm(x, y));
        return push(mm(x, permute(x, {1, 0})));
      }
      case 16: {
        if (rank == 0) return;
        return push(cat({x, exp(x)}, static_cast<std::int64_t>(below(rank))));
      }
      default:
        return overwrite(x);
    }
  }
  // Small enough to stay quick.
  void push(const Tensor& tensor) {
    const Type& own = type(tensor);
    const std::int64_t most = is_tall_ ? rows_ * columns_ : 40000;
    if (own.dtype != kFloat || own.sizes.size() > 4 || element_count(own.sizes) > most) return;
    values_.push_back(tensor);
  }
  void binary(const Tensor& x) {
    for (int attempt = 0; attempt < 4; ++attempt) {
      const Tensor y = pick();
      try {
        switch (below(5)) {
          case 0:
            return push(add(x, y));
          case 1:
            return push(mul(x, y));
          case 2:
            return push(sub(x, y));
          case 3:
            return push(maximum(x, y));
          default:
            return push(where(lt(x, y), x, y));
        }
      } catch (const Error&) {  // shapes that do not broadcast
      }
    }
  }
  void reduce(const Tensor& x) {
    std::vector<std::int64_t> dims;
    for (std::size_t i = 0; i < type(x).sizes.size(); ++i) {
      if (below(2)) dims.push_back(static_cast<std::int64_t>(i));
    }
    // Down the columns.
    if (is_tall_ && type(x).sizes.size() > 1 && below(2) == 0) {
      dims.clear();
      for (std::size_t i = 0; i + 1 < type(x).sizes.size(); ++i)
        dims.push_back(static_cast<std::int64_t>(i));
    }
    const bool keeps = below(2) != 0;
    if (below(is_tall_ ? 6 : 3) == 0) return push(amax(x, dims, keeps));
    push(below(2) ? sum(x, dims, keeps) : mean(x, dims, keeps));
  }
  void overwrite(const Tensor& x) {
    const Shape sizes = type(x).sizes;
    if (sizes.empty() || element_count(sizes) == 0) return;
    Shape region = sizes;
    region[0] = (sizes[0] + 1) / 2;
    const Tensor value = exp(slice(x, 0, 0, region[0]));
    Attrs attrs;
    attrs.add(IntArrayRef(region)).add(IntArrayRef(contiguous_strides(sizes)));
    attrs.add(std::int64_t{0});
    push(call(write_strided_op(), {x, value}, Site::current(), attrs));
  }

  void add_outputs() {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (i + 1 < values_.size() && below(3) != 0) continue;
      const ValueId value = builder_.value(values_[i]);
      graph_.outputs.push_back({value, -1, some_stage(value)});
    }
    // Inputs may be overwritten before their old values are read for the last time.
    for (std::size_t i = 0; i < graph_.inputs.size(); ++i) {
      for (const Tensor& tensor : values_) {
        const ValueId value = builder_.value(tensor);
        if (graph_.values[static_cast<std::size_t>(value)].node < 0 || below(4) != 0) continue;
        if (!(graph_.type(value) == graph_.type(graph_.inputs[i].value))) continue;
        graph_.outputs.push_back({value, static_cast<std::int32_t>(i), some_stage(value)});
        break;
      }
    }
  }

  // Not before the value is recorded.
  std::int32_t some_stage(ValueId value) {
    const std::int32_t node = graph_.values[static_cast<std::size_t>(value)].node;
    const auto any = static_cast<std::int32_t>(below(static_cast<std::size_t>(graph_.stages)));
    return node < 0 ? any : std::max(any, graph_.nodes[static_cast<std::size_t>(node)].stage);
  }

  std::mt19937_64 random_;
  const bool is_tall_;
  std::int64_t rows_ = 0, columns_ = 0;
  std::int32_t stage_ = 0;
  Graph graph_;
  kernels::GraphBuilder builder_;
  Tensors values_;
};

void expect_same_bits(std::uint64_t seeds, bool is_tall,
                      kernels::Backend& tested = kernels::current_backend()) {
  kernels::Backend& usual = kernels::current_backend();
  const std::vector<std::uint64_t> scalars{0x3fe0000000000000u};  // 0.5
  for (std::uint64_t seed = 1; seed <= seeds && !testing::Test::HasFailure(); ++seed) {
    const Graph graph = Generator(seed, is_tall).run(6 + static_cast<int>(seed % 30));
    ASSERT_EQ(verify(graph), "") << "seed " << seed << "\n" << print(graph);
    ASSERT_EQ(print(parse_graph(print(graph))), print(graph)) << "seed " << seed;
    const std::vector<Bytes> inputs = random_inputs(graph, seed, seed % 2 == 0);
    kernels::set_current_backend(*kernels::find_backend("interpreter"));
    const Outcome expected = run_eagerly(graph, inputs, scalars);
    kernels::set_current_backend(tested);
    for (const int threads : {1, 2, 3, 4}) {
      kernels::set_kernel_threads(threads);
      for (const bool is_fused : {false, true}) {
        ProgramOptions options{is_fused, true, true};
        if (threads != 1) options.rematerialise = {0, 0, 1, 1e9};  // all that can be
        const Outcome actual = run_program(graph, inputs, scalars, options);
        EXPECT_EQ(compare(graph, expected, actual), "")
            << "seed " << seed << ", " << threads << " threads, "
            << (is_fused ? "fused" : "unfused") << "\n"
            << print(graph);
      }
    }
    kernels::set_kernel_threads(0);
    kernels::set_current_backend(usual);
  }
}

std::uint64_t seeds() {
  const char* const wanted = std::getenv("PROGRAM_TEST_SEEDS");
  return wanted ? std::strtoull(wanted, nullptr, 10) : 60;
}

TEST(RandomProgram, SameBitsAsNodeByNode) { expect_same_bits(seeds(), false); }
TEST(RandomProgram, SameBitsWithSumsOfManyRows) {
  expect_same_bits(seeds(), true);
  expect_same_bits(std::min<std::uint64_t>(seeds(), 10), true,
                   *kernels::find_backend("interpreter"));
}

// As launches do that store more than the caches hold.
TEST(RandomProgram, SameBitsWithStoresPastTheCaches) {
  kernels::set_least_streamed(1);
  expect_same_bits(std::min<std::uint64_t>(seeds(), 30), false);
  expect_same_bits(std::min<std::uint64_t>(seeds(), 10), true);
  kernels::set_least_streamed(0);
}

}  // namespace
}  // namespace groove::jit
