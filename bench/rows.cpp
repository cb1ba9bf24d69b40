// Elementwise chains, row kernels and Adam against what the machine allows, measured in the same
// run. The limit of a case is the slower of
//   - memory: its bytes in the time in which a triad moves as many, over as much memory as the
//     case has, so that the caches keep as much of it. Bytes are those of inputs, each read once,
//     and of results, each written once; what lies in between (the softmax that its gradient is
//     computed from, sums of chunks of rows) counts for nothing. A triad writes one byte in three;
//     where a case writes more of its own, "moved" tells what memory allows: as many streams read,
//     as many written, in place where the case works in place;
//   - arithmetic: the same machine code for the same number of elements, of all launches, with
//     rows that stay in the first-level cache.
// So 100 % is code that waits for neither while it works for the other. Samples of all three
// alternate, because shared machines drift; medians are compared, and the least of each.
#include <emmintrin.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "bench/median.h"
#include "jit/pipeline.h"
#include "jit/program.h"
#include "kernels/pool.h"
#include "src/core/allocator.h"
#include "src/core/check.h"

namespace groove::jit {
namespace {

using Clock = std::chrono::steady_clock;

struct Case {
  const char* anchor;
  const char* what;
  const char* graph;
};
constexpr Case kCases[] = {
    {"A9", "gelu(a*2+b)*b", R"(graph(a: f32[4194304], b: f32[4194304]) {
       t = mul_scalar(a) <number: 2.0>
       u = add(t, b)
       v = gelu(u) {is_tanh: false}
       y = mul(v, b)
       return y
     })"},
    {"A12", "adam", R"(graph(p: f32[10000000], g: f32[10000000], m: f32[10000000],
                             v: f32[10000000]) {
       q, n, w = adam_step(p, g, m, v) {decoupled: false, weight_decay: false} <step_size: 0.001,
         inv_sqrt_bias2: 2.0, beta1: 0.9, rest1: 0.1, beta2: 0.999, rest2: 0.001, eps: 1e-08,
         decay: 0.0>
       return q -> p, n -> m, w -> v
     })"},
    {"A13s", "softmax", R"(graph(x: f32[4096, 1024]) {
       y = softmax(x) {dim: 1}
       return y
     })"},
    {"A13sb", "softmax with backward", R"(graph(x: f32[4096, 1024], c: f32[4096, 1024]) {
       y = softmax(x) {dim: 1}
       p = mul(c, y)
       s = sum(p) {dims: [1], keepdim: true}
       d = sub(c, s)
       g = mul(y, d)
       return g
     })"},
    {"A13l", "layer norm", R"(graph(x: f32[4096, 1024], w: f32[1024], b: f32[1024]) {
       y, mean, inverse = layer_norm(x, w, b) {axes: 1, eps: 1e-05}
       return y
     })"},
    {"A13lb", "layer norm with backward", R"(graph(x: f32[4096, 1024], w: f32[1024],
                                                    b: f32[1024], c: f32[4096, 1024]) {
       y, mean, inverse = layer_norm(x, w, b) {axes: 1, eps: 1e-05}
       g = layer_norm_backward(c, x, mean, inverse, w) {axes: 1}
       u = layer_norm_weight(c, x, mean, inverse) {axes: 1}
       v = sum(c) {dims: [0], keepdim: false}
       return g, u, v
     })"},
};

constexpr std::size_t kHugePage = 2 << 20;

struct Release {
  std::size_t bytes;
  void operator()(float* memory) const { unmap_memory(memory, bytes); }
};
using Memory = std::unique_ptr<float, Release>;

// As large tensors and arenas have it, the triad's too: in huge pages where the system has them.
Memory allocate(std::int64_t bytes) {
  const std::size_t whole = (static_cast<std::size_t>(bytes) / kHugePage + 1) * kHugePage;
  Memory memory(static_cast<float*>(map_memory(whole, kHugePage)), Release{whole});
  std::mt19937 random(7);
  std::uniform_real_distribution<float> some(0.1f, 1.0f);
  for (std::size_t i = 0; i < whole / sizeof(float); ++i) memory.get()[i] = some(random);
  return memory;
}

template <typename Body>
double seconds(const Body& body) {
  const auto start = Clock::now();
  body();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Of a run after several: what others left in the caches, lines to be written back above all, is
// gone then, what the last cache keeps of the body's own memory is there, and the threads are
// awake.
template <typename Body>
double steady_seconds(const Body& body) {
  constexpr int kBefore = 4, kTimed = 3;
  for (int i = 0; i < kBefore; ++i) body();
  return seconds([&] {
           for (int i = 0; i < kTimed; ++i) body();
         }) /
         kTimed;
}

// a = b * s + c over `bytes` in all; with and without stores past the caches.
class Triad {
 public:
  explicit Triad(std::int64_t bytes)
      : lines_(bytes / 3 / 64),
        a_(allocate(lines_ * 64)),
        b_(allocate(lines_ * 64)),
        c_(allocate(lines_ * 64)) {}

  /// Seconds a byte, of the faster way.
  double run() const {
    const double plain = steady_seconds([&] { pass<false>(); });
    return std::min(plain, steady_seconds([&] { pass<true>(); })) /
           static_cast<double>(3 * 64 * lines_);
  }

 private:
  template <bool kStreams>
  void pass() const {
    kernels::parallel(kernels::num_threads(), [&](int part, int parts) {
      const __m128 scale = _mm_set1_ps(0.5f);
      const std::int64_t end = lines_ * (part + 1) / parts * 16;
      for (std::int64_t i = lines_ * part / parts * 16; i < end; i += 4) {
        const __m128 sum =
            _mm_add_ps(_mm_mul_ps(_mm_load_ps(b_.get() + i), scale), _mm_load_ps(c_.get() + i));
        if (kStreams) {
          _mm_stream_ps(a_.get() + i, sum);
        } else {
          _mm_store_ps(a_.get() + i, sum);
        }
      }
      if (kStreams) _mm_sfence();
    });
  }

  std::int64_t lines_;
  Memory a_, b_, c_;
};

std::int64_t bytes_of(const Type& type) {
  return element_count(type.sizes) * static_cast<std::int64_t>(element_size(type.dtype));
}

// As many streams as a graph has large inputs and results, each as large, and nothing computed.
class Moved {
 public:
  explicit Moved(const Graph& graph) {
    std::int64_t largest = 0;
    for (const GraphInput& input : graph.inputs)
      largest = std::max(largest, bytes_of(graph.type(input.value)));
    lines_ = largest / 64;
    const auto is_large = [&](ValueId value) { return bytes_of(graph.type(value)) == largest; };
    std::vector<float*> of_inputs;
    for (const GraphInput& input : graph.inputs) {
      of_inputs.push_back(nullptr);
      if (!is_large(input.value)) continue;
      memory_.push_back(allocate(largest));
      of_inputs.back() = memory_.back().get();
      from_.push_back(of_inputs.back());
    }
    for (const GraphOutput& output : graph.outputs) {
      if (!is_large(output.value)) continue;
      if (output.writes < 0) memory_.push_back(allocate(largest));
      to_.push_back(output.writes < 0 ? memory_.back().get()
                                      : of_inputs[static_cast<std::size_t>(output.writes)]);
    }
  }

  /// Seconds of the faster way of storing.
  double run() const {
    const double plain = steady_seconds([&] { pass<false>(); });
    return std::min(plain, steady_seconds([&] { pass<true>(); }));
  }

 private:
  template <bool kStreams>
  void pass() const {
    kernels::parallel(kernels::num_threads(), [&](int part, int parts) {
      const __m128 share = _mm_set1_ps(1.0f / static_cast<float>(from_.size()));
      for (std::int64_t line = lines_ * part / parts; line < lines_ * (part + 1) / parts; ++line) {
        __m128 sums[4] = {};
        for (const float* from : from_) {
          for (int i = 0; i < 4; ++i)
            sums[i] = _mm_add_ps(sums[i], _mm_load_ps(from + line * 16 + i * 4));
        }
        for (float* to : to_) {
          for (int i = 0; i < 4; ++i) {
            const __m128 mean = _mm_mul_ps(sums[i], share);
            kStreams ? _mm_stream_ps(to + line * 16 + i * 4, mean)
                     : _mm_store_ps(to + line * 16 + i * 4, mean);
          }
        }
      }
      if (kStreams) _mm_sfence();
    });
  }

  std::int64_t lines_ = 0;
  std::vector<Memory> memory_;
  std::vector<const float*> from_;
  std::vector<float*> to_;
};

// A program's kernels over its own number of elements, all of which lie in one row.
class NearBody {
 public:
  explicit NearBody(const Graph& graph) : lowered_(lower_groups(graph, fuse(graph))) {
    kernels::Backend* const tier_2 = kernels::find_backend("llvm");
    const bool has_tier_2 = tier_2 && tier_2->unavailable().empty();
    for (LaunchPlan& plan : lowered_.launches) {
      GROOVE_CHECK(plan.kind == LaunchPlan::Kind::kKernel, "rows: a launch that is no kernel");
      Body body{&plan, {plan.callable}, {}, {}, {}};
      if (has_tier_2) body.codes.push_back(kernels::compile_cached(*tier_2, *plan.kernel));
      kernels::Box box = plan.box;
      if (box.rank == 1) {  // a map over all elements: rows of some
        box.rank = 2;
        box.count[1] = box.count[0] / kRow;
        box.count[0] = kRow;
      }
      // Operands of one buffer and offset are one row.
      for (const Operand& operand : plan.operands) {
        std::size_t same = 0;
        while (plan.operands[same].buffer != operand.buffer) ++same;
        const auto at = static_cast<std::size_t>(&operand - plan.operands.data());
        if (same == at) body.rows.push_back(allocate(kLongest * 4));
        body.pointers.push_back(same == at ? body.rows.back().get() : body.pointers[same]);
      }
      for (auto& strides : box.strides) {
        for (int axis = 1; axis < kernels::kMaxAxes; ++axis) strides[axis] = 0;
      }
      for (const ScalarSlot& scalar : plan.scalars) body.scalars.push_back(scalar.bits);
      body.box = box;
      GROOVE_CHECK(box.count[0] <= kLongest, "rows: a row of {} elements", box.count[0]);
      bodies_.push_back(std::move(body));
    }
  }

  /// Of the faster tier, kernel by kernel.
  double run() const {
    double all = 0;
    for (const Body& body : bodies_) {
      double best = 1e9;
      for (const auto& code : body.codes)
        best = std::min(best, steady_seconds([&] { pass(body, *code); }));
      all += best;
    }
    return all;
  }

 private:
  struct Body {
    const LaunchPlan* plan;
    std::vector<std::shared_ptr<const kernels::Callable>> codes;
    std::vector<Memory> rows;
    std::vector<void*> pointers;
    std::vector<std::uint64_t> scalars;
    kernels::Box box = {};
  };

  // Every thread has a row of its own in its cache, at its own offset in each operand's memory.
  void pass(const Body& body, const kernels::Callable& code) const {
    kernels::Launch launch;
    kernels::describe(launch, body.box);
    launch.scalars = body.scalars.data();
    kernels::parallel(kernels::num_threads(), [&](int part, int parts) {
      kernels::Launch mine;
      if (!kernels::split(body.plan->order, launch, part, parts, mine)) return;
      std::vector<void*> pointers;
      const std::int64_t own = part * (kLongest / parts / 64 * 64);
      for (void* const pointer : body.pointers) {
        pointers.push_back(static_cast<float*>(pointer) + own / 2);
      }
      mine.pointers = pointers.data();
      code.run(mine);
    });
  }

  static constexpr std::int64_t kRow = 1024, kLongest = 1 << 16;
  Lowered lowered_;
  std::vector<Body> bodies_;
};

class Whole {
 public:
  explicit Whole(const Graph& graph) : program_(graph), arena_(allocate(0)) {
    for (const GraphInput& input : graph.inputs) add(graph.type(input.value));
    for (const GraphOutput& output : graph.outputs) {
      if (output.writes < 0) add(graph.type(output.value));
      if (output.writes >= 0) bytes_ += bytes_of(graph.type(output.value));
    }
    arena_ = allocate(static_cast<std::int64_t>(program_.arena_bytes()));
    context_.arena = arena_.get();
    program_.promote();
  }

  double run() {
    return steady_seconds([&] {
      const std::int32_t status = program_.run(buffers_.data(), nullptr, nullptr, context_);
      GROOVE_CHECK(status == 0, "rows: status {}", status);
    });
  }
  /// What a run cannot do without reading or writing.
  double bytes() const { return static_cast<double>(bytes_); }
  /// Of inputs and results.
  std::int64_t memory() const { return memory_bytes_; }

 private:
  void add(const Type& type) {
    memory_.push_back(allocate(bytes_of(type)));
    buffers_.push_back(memory_.back().get());
    memory_bytes_ += bytes_of(type);
    bytes_ += bytes_of(type);
  }

  Program program_;
  Memory arena_;
  std::vector<Memory> memory_;
  std::vector<void*> buffers_;
  std::int64_t bytes_ = 0, memory_bytes_ = 0;
  ProgramContext context_;
};

void measure(const Case& one, int samples) {
  Graph graph = parse_graph(one.graph);
  GROOVE_CHECK(verify(graph).empty(), "rows: {}", verify(graph));
  run_pipeline(graph);
  Whole whole(graph);
  const Triad triad(whole.memory());
  const NearBody near(graph);
  const Moved moved(graph);
  for (int i = 0; i < 60; ++i) whole.run();  // the trial of the tiers is over then
  std::vector<double> times, triads, bodies, moves;
  for (int i = 0; i < samples; ++i) {
    triads.push_back(triad.run() * whole.bytes());
    bodies.push_back(near.run());
    moves.push_back(moved.run());
    times.push_back(whole.run());
  }
  const auto row = [&](const char* of, const auto& pick) {
    const double limit = std::max(pick(triads), pick(bodies));
    std::printf("| %-5s %-24s | %-6s | %6.2f | %6.2f | %6.2f | %4.0f %% | %6.2f |\n", one.anchor,
                one.what, of, 1e3 * pick(times), 1e3 * pick(triads), 1e3 * pick(bodies),
                100 * limit / pick(times), 1e3 * pick(moves));
  };
  row("median", ::median);
  row("least",
      [](const std::vector<double>& all) { return *std::min_element(all.begin(), all.end()); });
  std::fflush(stdout);
}

int run(int argc, char** argv) {
  int samples = 41;
  std::vector<std::string> wanted;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--samples" && i + 1 < argc) {
      samples = std::max(1, std::atoi(argv[++i]));
    } else if (word == "--help") {
      std::printf("usage: rows [--samples N] [A9 A12 A13s A13sb A13l A13lb]\n");
      return 0;
    } else {
      wanted.push_back(word);
    }
  }
  std::printf(
      "| ms on %d threads                | of     | Groove | triad  | in L1  | share  "
      "| moved  |\n"
      "|---|---|---|---|---|---|---|\n",
      kernels::num_threads());
  for (const Case& one : kCases) {
    if (!wanted.empty() && !std::count(wanted.begin(), wanted.end(), one.anchor)) continue;
    measure(one, samples);
  }
  return 0;
}

}  // namespace
}  // namespace groove::jit

int main(int argc, char** argv) {
  try {
    return groove::jit::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rows: %s\n", error.what());
    return 1;
  }
}
