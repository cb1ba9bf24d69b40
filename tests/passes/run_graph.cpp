// Random inputs, eager and compiled execution of a graph, and the comparison of their bits.
#include "tests/passes/run_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "jit/pipeline.h"
#include "kernels/backend.h"
#include "kernels/lowering.h"
#include "kernels/pool.h"
#include "src/core/check.h"
#include "src/core/dispatch.h"
#include "src/core/half.h"
#include "src/core/tensor_impl.h"

namespace groove::jit {
namespace {

std::size_t span_of(const Graph& graph, const GraphInput& input) {
  const Type& type = graph.type(input.value);
  std::int64_t last = 0;
  if (element_count(type.sizes) == 0) return 0;
  for (std::size_t i = 0; i < type.sizes.size(); ++i)
    last += (type.sizes[i] - 1) * input.strides[i];
  return static_cast<std::size_t>(last + 1) * element_size(type.dtype);
}

template <typename T>
void put(unsigned char* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

void draw(unsigned char* at, ScalarType dtype, std::mt19937_64& random, bool has_specials) {
  const double uniform = std::uniform_real_distribution<double>(-2, 2)(random);
  const auto pick = random() % 24;
  const double specials[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1e-42, -1e-310, 1.0};
  const double real = has_specials && pick < 8 ? specials[pick] : uniform;
  switch (dtype) {
    case kFloat:
      return put(at, static_cast<float>(real));
    case kDouble:
      return put(at, real);
    case kHalf:
      return put(at, half_bits(real));
    case kBFloat16:
      return put(at, bfloat16_bits(real));
    case kShort:
      return put(at, static_cast<std::int16_t>(random() % 3));
    case kLong:
      return put(at, static_cast<std::int64_t>(random() % 3));
    case kInt:
      return put(at, static_cast<std::int32_t>(random() % 3));
    case kBool:
      return put(at, static_cast<unsigned char>(random() % 2));
    default:
      return put(at, static_cast<unsigned char>(random() % 3));
  }
}

// Tensor over memory of the caller.
Tensor over(const Bytes& bytes, const Type& type, const Shape& strides) {
  StoragePtr storage = allocate_storage(bytes.size() + 64);
  std::memcpy(storage->data, bytes.data(), bytes.size());
  return Tensor(make_impl(std::move(storage), Geometry{type.sizes, strides, 0}, type.dtype));
}

Bytes dense(const Tensor& tensor) {
  const TensorImpl& impl = *tensor.impl();
  const std::size_t size = element_size(impl.dtype);
  Bytes bytes(static_cast<std::size_t>(impl.numel) * size);
  const Geometry& g = impl.geometry;
  for (std::int64_t i = 0; i < impl.numel; ++i) {
    std::int64_t rest = i, at = 0;
    for (std::size_t axis = g.sizes.size(); axis-- > 0;) {
      at += rest % g.sizes[axis] * g.strides[axis];
      rest /= g.sizes[axis];
    }
    std::memcpy(bytes.data() + static_cast<std::size_t>(i) * size,
                static_cast<const char*>(impl.data()) + static_cast<std::size_t>(at) * size, size);
  }
  return bytes;
}

using AnyLowering = decltype(kernels::Lowering::how);
const AnyLowering& lowering_of(const Node& node) {
  static const AnyLowering none;
  return node.op->lowering ? node.op->lowering->how : none;
}

Tensor overwritten(const Graph& graph, const Node& node, const Tensors& operands) {
  const Type& type = graph.type(node.outputs[0]);
  Bytes bytes = dense(operands[0]);
  const Bytes value = dense(operands[1]);
  const AttrReader attr(*node.op, node.attrs);
  const IntArrayRef sizes = attr.integers(0), strides = attr.integers(1);
  const std::size_t size = element_size(type.dtype);
  for (std::size_t i = 0; i * size < value.size(); ++i) {
    std::int64_t rest = static_cast<std::int64_t>(i), at = attr.integer(2);
    for (std::size_t axis = sizes.size(); axis-- > 0;) {
      at += rest % sizes[axis] * strides[axis];
      rest /= sizes[axis];
    }
    std::memcpy(&bytes[static_cast<std::size_t>(at) * size], &value[i * size], size);
  }
  return over(bytes, type, contiguous_strides(type.sizes));
}

Scalar number_of(const Graph& graph, const NumberRef& ref,
                 const std::vector<std::uint64_t>& scalars) {
  if (ref.entry < 0) return ref.constant;
  const auto entry = static_cast<std::size_t>(ref.entry);
  if (graph.numbers[entry] == kDouble) return Scalar(std::bit_cast<double>(scalars[entry]));
  return Scalar(static_cast<std::int64_t>(scalars[entry]));
}

// The stage in which the tracer would have bound each input: that of the first node that uses it.
std::vector<std::int32_t> first_uses(const Graph& graph) {
  std::vector<std::int32_t> first(graph.inputs.size(), graph.stages);
  const auto use = [&](std::int32_t input, std::int32_t stage) {
    auto& earliest = first[static_cast<std::size_t>(input)];
    earliest = std::min(earliest, stage);
  };
  const auto use_value = [&](ValueId id, std::int32_t stage) {
    if (id == kNoValue) return;
    const Value& value = graph.values[static_cast<std::size_t>(id)];
    if (value.node < 0) use(value.output, stage);
  };
  for (const Node& node : graph.nodes) {
    for (const ValueId id : node.inputs) use_value(id, node.stage);
  }
  for (const GraphOutput& output : graph.outputs) {
    use_value(output.value, output.stage);
    if (output.writes >= 0) use(output.writes, output.stage);
  }
  return first;
}

}  // namespace

std::vector<Bytes> random_inputs(const Graph& graph, std::uint64_t seed, bool has_specials) {
  std::mt19937_64 random(seed);
  std::vector<Bytes> inputs;
  for (const GraphInput& input : graph.inputs) {
    const ScalarType dtype = graph.type(input.value).dtype;
    Bytes bytes(span_of(graph, input));
    for (std::size_t at = 0; at < bytes.size(); at += element_size(dtype)) {
      draw(bytes.data() + at, dtype, random, has_specials);
    }
    inputs.push_back(std::move(bytes));
  }
  return inputs;
}

Outcome run_eagerly(const Graph& graph, const std::vector<Bytes>& inputs,
                    const std::vector<std::uint64_t>& scalars) {
  std::vector<Tensor> values(graph.values.size());
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const GraphInput& input = graph.inputs[i];
    values[static_cast<std::size_t>(input.value)] =
        over(inputs[i], graph.type(input.value), input.strides);
  }
  for (const Node& node : graph.nodes) {
    Tensors operands;
    for (const ValueId id : node.inputs) {
      operands.push_back(id == kNoValue ? Tensor() : values[static_cast<std::size_t>(id)]);
    }
    std::vector<Scalar> numbers;
    for (const NumberRef& ref : node.numbers) numbers.push_back(number_of(graph, ref, scalars));
    // A view that memory does not allow is one of a copy.
    if (node.op->kind == OpKind::kView && !operands[0].impl()->is_contiguous) {
      const Bytes copy = dense(operands[0]);
      const Type& type = graph.type(node.inputs[0]);
      operands[0] = over(copy, type, contiguous_strides(type.sizes));
    }
    // Eager mode writes through views instead.
    if (std::holds_alternative<kernels::OverwriteLowering>(lowering_of(node))) {
      values[static_cast<std::size_t>(node.outputs[0])] = overwritten(graph, node, operands);
      continue;
    }
    Tensors results(node.outputs.size());
    dispatch_below(DispatchLayer::kAutodiff,
                   Call{node.op, operands, &node.attrs, numbers, Site::current(), false},
                   results.data());
    for (std::size_t i = 0; i < results.size(); ++i) {
      values[static_cast<std::size_t>(node.outputs[i])] = results[i];
    }
  }
  Outcome outcome;
  for (const GraphOutput& output : graph.outputs) {
    outcome.outputs.push_back(dense(values[static_cast<std::size_t>(output.value)]));
  }
  return outcome;
}

std::unique_ptr<Program> program_of(const Graph& graph, const ProgramOptions& options) {
  Graph compiled = graph;
  if (options.takes_numbers)
    run_pipeline_for_many_sizes(compiled);
  else
    run_pipeline(compiled);
  const std::string problem = verify(compiled);
  GROOVE_CHECK(problem.empty(), "after the pipeline: {}\n{}", problem, print(compiled));
  return std::make_unique<Program>(std::move(compiled), options);
}

Outcome run_program(const Graph& graph, const std::vector<Bytes>& inputs,
                    const std::vector<std::uint64_t>& scalars, const ProgramOptions& options,
                    int runs) {
  return run_program(*program_of(graph, options), graph, inputs, scalars, runs,
                     options.fills_freed_memory);
}

Outcome run_program(const Program& program, const Graph& graph, const std::vector<Bytes>& inputs,
                    const std::vector<std::uint64_t>& scalars, int runs, bool lends) {
  const StoragePtr arena = allocate_storage(program.arena_bytes());
  std::memset(arena->data, 0xff, program.arena_bytes());
  Outcome outcome;
  ProgramContext context;  // kept: what lies ready in the arena serves again, at other addresses
  context.arena = arena->data;
  const std::size_t kept = program.kept_bytes(), rest = program.arena_bytes() - kept;
  for (int run = 0; run < runs; ++run) {
    // Every other run computes elsewhere, where others have been meanwhile.
    const StoragePtr work = allocate_storage(rest + 64);
    std::memset(work->data, 0xff, rest);
    std::memset(static_cast<char*>(arena->data) + kept, 0xff, rest);
    context.work = run % 2 == 1 && rest > 0 ? work->data : nullptr;
    context.mark = rest > 0 ? 0 : context.mark;
    std::vector<Tensor> memory;
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
      const GraphInput& input = graph.inputs[i];
      memory.push_back(over(inputs[i], graph.type(input.value), input.strides));
    }
    for (const GraphOutput& output : graph.outputs) {
      if (output.writes >= 0) continue;
      const Type& type = graph.type(output.value);
      memory.push_back(make_empty(type.sizes, type.dtype));
    }
    std::vector<void*> buffers;
    for (const Tensor& tensor : memory) buffers.push_back(tensor.impl()->storage->data);
    std::vector<char*> lent(memory.size(), nullptr);
    for (std::size_t i = graph.inputs.size(); i < memory.size() && lends; ++i) {
      const std::int64_t at = program.output_place(i - graph.inputs.size());
      if (at >= 0) buffers[i] = lent[i] = static_cast<char*>(arena->data) + at;
    }
    const std::vector<std::int32_t> bound = first_uses(graph);
    for (context.stage = 0; context.stage < graph.stages; ++context.stage) {
      std::vector<void*> now = buffers;
      for (std::size_t i = 0; i < bound.size(); ++i) {
        if (bound[i] > context.stage) now[i] = nullptr;
      }
      const std::int32_t status = program.run(now.data(), nullptr, scalars.data(), context);
      GROOVE_CHECK(status == 0, "program status {}", status);
    }
    for (std::size_t i = 0; i < memory.size(); ++i) {
      const Storage& own = *memory[i].impl()->storage;
      if (lent[i]) std::memcpy(own.data, lent[i], own.bytes);
    }
    outcome.outputs.clear();
    std::size_t next = graph.inputs.size();
    for (const GraphOutput& output : graph.outputs) {
      outcome.outputs.push_back(
          dense(memory[output.writes >= 0 ? static_cast<std::size_t>(output.writes) : next++]));
    }
  }
  return outcome;
}

const std::vector<kernels::Machine>& test_machines() {
  static const std::vector<kernels::Machine> machines{
      kernels::Machine{}.with(kernels::Isa::kAvx2), kernels::Machine{}.with(kernels::Isa::kAvx512)};
  return machines;
}

std::string on_machines(const std::function<std::string(const kernels::Machine&)>& text) {
  std::string each, first;
  bool are_same = true;
  for (const kernels::Machine& machine : test_machines()) {
    const std::string own = text(machine);
    if (each.empty()) first = own;
    are_same &= own == first;
    each += fmt::format("on {}:\n{}", kernels::name(machine.isa), own);
  }
  return are_same ? first : each;
}

Lowered lowered_for(const kernels::Machine& machine, const Graph& graph) {
  return lower_groups(graph, fuse(graph, {.machine = machine}), {.machine = machine});
}

std::string launches_on(const kernels::Machine& machine, const Graph& graph) {
  const char* const orders[] = {"map", "row", "column", "tree"};
  std::string text;
  for (const LaunchPlan& launch : lowered_for(machine, graph).launches) {
    text += launch.kind == LaunchPlan::Kind::kContraction ? "contraction"
            : launch.kind == LaunchPlan::Kind::kOpaque    ? "host"
            : launch.kind == LaunchPlan::Kind::kRelay     ? "relay"
                                                          : orders[static_cast<int>(launch.order)];
    text += ":";
    const auto add_names = [&](const LaunchPlan& part) {
      for (const std::int32_t node : part.nodes)
        text += " " + graph.nodes[static_cast<std::size_t>(node)].op->name;
    };
    if (launch.parts.empty()) add_names(launch);
    for (const LaunchPlan& part : launch.parts) {
      if (&part != &launch.parts.front()) text += " |";
      add_names(part);
    }
    text += "\n";
  }
  return text;
}

std::string launches(const Graph& graph) {
  return on_machines([&](const kernels::Machine& machine) { return launches_on(machine, graph); });
}

std::string compare(const Graph& graph, const Outcome& expected, const Outcome& actual) {
  for (std::size_t k = 0; k < graph.outputs.size(); ++k) {
    const ScalarType dtype = graph.type(graph.outputs[k].value).dtype;
    const std::size_t size = element_size(dtype);
    const Bytes &a = expected.outputs[k], &b = actual.outputs[k];
    if (a.size() != b.size())
      return fmt::format("output {}: {} and {} bytes", k, a.size(), b.size());
    for (std::size_t at = 0; at < a.size(); at += size) {
      if (std::memcmp(&a[at], &b[at], size) == 0) continue;
      double x = 0, y = 0;
      if (dtype == kFloat) {
        float p, q;
        std::memcpy(&p, &a[at], 4);
        std::memcpy(&q, &b[at], 4);
        x = p, y = q;
      } else if (dtype == kHalf || dtype == kBFloat16) {
        std::uint16_t p, q;
        std::memcpy(&p, &a[at], 2);
        std::memcpy(&q, &b[at], 2);
        x = dtype == kHalf ? half_value(p) : bfloat16_value(p);
        y = dtype == kHalf ? half_value(q) : bfloat16_value(q);
      } else if (dtype == kDouble) {
        std::memcpy(&x, &a[at], 8);
        std::memcpy(&y, &b[at], 8);
      }
      if (std::isnan(x) && std::isnan(y)) continue;
      return fmt::format("output {}, element {}: {:a} ({}) expected, {:a} ({}) found", k, at / size,
                         x, x, y, y);
    }
  }
  return {};
}

std::string compare_programs(const Graph& graph, std::uint64_t seed, bool has_specials,
                             const std::vector<std::uint64_t>& numbers) {
  const std::vector<Bytes> inputs = random_inputs(graph, seed, has_specials);
  kernels::Backend& usual = kernels::current_backend();
  kernels::set_current_backend(*kernels::find_backend("interpreter"));
  const Outcome expected = run_eagerly(graph, inputs, numbers);
  const std::string interpreted = compare(graph, expected, run_program(graph, inputs, numbers, {}));
  kernels::set_current_backend(usual);
  std::string found = interpreted.empty() ? "" : "interpreter: " + interpreted + "\n";
  for (const int threads : {1, 2, 3, 7}) {
    kernels::set_kernel_threads(threads);
    for (const int sizes : {1, 2, 3}) {  // one, many, any
      for (const bool is_never_serial : {false, true}) {
        ProgramOptions options;
        options.fills_freed_memory = options.is_never_serial = is_never_serial;
        options.is_for_many_sizes = sizes > 1;
        options.takes_numbers = sizes > 2;
        const std::string differs =
            compare(graph, expected, run_program(graph, inputs, numbers, options, 2));
        if (differs.empty()) continue;
        found += fmt::format("{} threads, sizes {}, never serial {}: {}\n", threads, sizes,
                             is_never_serial, differs);
      }
    }
  }
  kernels::set_kernel_threads(0);
  return found;
}

}  // namespace groove::jit
