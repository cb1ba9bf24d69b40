// Type rules are what stands between a file and the kernels: whatever attributes, numbers and types
// they are given, they refuse with groove::Error or the call runs within its memory.
#include <gtest/gtest.h>

#include "jit/graph/state.h"

#include "groove/groove.h"
#include "tests/graph/every_op.h"
#include "tests/ops/support.h"

namespace groove {
namespace {

constexpr std::int64_t kStrange[] = {-1,
                                     0,
                                     1,
                                     2,
                                     3,
                                     7,
                                     -100,
                                     1000,
                                     std::int64_t{1} << 33,
                                     std::int64_t{1} << 62,
                                     std::numeric_limits<std::int64_t>::min(),
                                     std::numeric_limits<std::int64_t>::max()};

// One attribute word changed, or a list longer or shorter.
Attrs strange_attrs(const Op& op, const Attrs& attrs, testing::Source& source) {
  const AttrReader reader(op, attrs);
  Attrs result;
  const std::size_t chosen = source.bits() % op.attributes.size();
  const auto strange = [&] { return kStrange[source.bits() % std::size(kStrange)]; };
  for (std::size_t i = 0; i < op.attributes.size(); ++i) {
    const bool is_chosen = i == chosen;
    switch (op.attributes[i].type) {
      case AttrType::kInts: {
        std::vector<std::int64_t> values = reader.integers(i).vec();
        if (is_chosen && source.bits() % 3 == 0)
          values.push_back(strange());
        else if (is_chosen && !values.empty() && source.bits() % 2 == 0)
          values.pop_back();
        else if (is_chosen && !values.empty())
          values[source.bits() % values.size()] = strange();
        result.add(IntArrayRef(values));
        break;
      }
      case AttrType::kInt:
        result.add(is_chosen ? strange() : reader.integer(i));
        break;
      case AttrType::kBool:
        result.add(is_chosen ? std::int64_t{!reader.boolean(i)} : reader.integer(i));
        break;
      case AttrType::kDtype: {
        constexpr ScalarType kAny[] = {kByte,   kChar, kHalf, kFloat,
                                       kDouble, kBool, kLong, kBFloat16};
        result.add(is_chosen ? kAny[source.bits() % std::size(kAny)] : reader.dtype(i));
        break;
      }
      case AttrType::kDouble:
        result.add_double(is_chosen ? static_cast<double>(strange()) : reader.real(i));
        break;
      case AttrType::kGraph:
        result.add(reader.integer(i));
        break;
    }
  }
  return result;
}

Sample strange_sample(const Op& op, Sample sample, testing::Source& source) {
  const int changes = 1 + static_cast<int>(source.bits() % 2);
  for (int change = 0; change < changes; ++change) {
    const std::uint64_t kind = source.bits() % 4;
    if (kind <= 1 && !op.attributes.empty()) {
      sample.attrs = strange_attrs(op, sample.attrs, source);
    } else if (kind == 2 && !sample.numbers.empty()) {
      Scalar& number = sample.numbers[source.bits() % sample.numbers.size()];
      const std::int64_t value = kStrange[source.bits() % std::size(kStrange)];
      number = source.bits() % 2 ? Scalar(value) : Scalar(static_cast<double>(value) * 0.5);
    } else if (!sample.inputs.empty()) {
      Type& type = sample.inputs[source.bits() % sample.inputs.size()];
      std::vector<std::int64_t> sizes(type.sizes.begin(), type.sizes.end());
      switch (source.bits() % 5) {
        case 0:
          sizes.push_back(static_cast<std::int64_t>(source.bits() % 4));
          break;
        case 1:
          if (!sizes.empty()) sizes.pop_back();
          break;
        case 2:
          sizes.clear();
          break;
        case 3:
          if (!sizes.empty())
            sizes[source.bits() % sizes.size()] = static_cast<std::int64_t>(source.bits() % 6);
          break;
        default:
          type.dtype = std::array{kFloat,  kLong, kBool, kHalf, ScalarType::Undefined,
                                  kDouble, kByte}[source.bits() % 7];
      }
      type.sizes = Shape(IntArrayRef(sizes));
    }
  }
  return sample;
}

std::int64_t elements(const Graph& graph) {
  std::int64_t count = 0;
  for (const Value& value : graph.values) count += element_count(value.type.sizes);
  return count;
}

TEST(TypeRules, RefuseWhatCannotRun) {
  std::size_t refused = 0, ran = 0;
  const bool is_told = std::getenv("OPS_UNDER_TEST") != nullptr;
  for (const Op* op : all_ops()) {
    if (!op->samples || op->kind == OpKind::kBig || !testing::is_wanted(*op)) continue;
    testing::Source source{op->name.size() * 977 + 5};
    for (const ScalarType dtype : op->dtypes) {
      if (dtype != op->dtypes.front() && dtype != op->dtypes.back()) continue;
      for (const Sample& sample : op->samples(dtype)) {
        for (int time = 0; time < 12; ++time) {
          const Sample strange = strange_sample(*op, sample, source);
          // The last call before a crash.
          if (is_told) std::fprintf(stderr, "%s\n", testing::describe(*op, strange).c_str());
          try {
            const jit::Graph graph = testing::facade_of(testing::graph_of(*op, strange));
            const std::string problem = graph.problem();
            if (!problem.empty()) throw Error(problem);
            const Graph& inner = graph.state().graph;
            if (elements(inner) > 100000) continue;
            if (testing::is_compiled_only(*op)) continue;
            Tensors arguments;
            for (const Tensor& input : testing::make_inputs(*op, strange, testing::Lay::kContiguous,
                                                            testing::Content::kDomain))
              if (input.defined()) arguments.push_back(input);
            graph.run(arguments);
            ++ran;
            // Positions that no check has seen.
            bool has_positions = false;
            for (const Tensor& argument : arguments) {
              const TensorImpl& impl = *argument.impl();
              if (impl.dtype != kLong) continue;
              auto* const values = static_cast<std::int64_t*>(impl.data());
              for (std::int64_t i = 0; i < impl.numel; ++i)
                values[i] = kStrange[source.bits() % std::size(kStrange)];
              has_positions |= impl.numel > 0;
            }
            if (has_positions) graph.run(arguments);
          } catch (const Error&) {
            ++refused;
          } catch (const std::exception& error) {
            ADD_FAILURE() << error.what() << ": " << testing::describe(*op, strange);
          }
        }
      }
    }
  }
  std::printf("%zu refused, %zu ran\n", refused, ran);
}

}  // namespace
}  // namespace groove
