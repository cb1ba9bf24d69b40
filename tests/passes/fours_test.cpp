// Random numbers that eager mode draws four at once have the bits that compiled code, which draws
// each by itself, gives them: for every such operator, dtype and number of elements left over.
#include <gtest/gtest.h>

#include "kernels/fours.h"
#include "run_graph.h"

namespace groove::jit {
namespace {

TEST(Fours, SameBitsAsOneByOne) {
  int operators = 0;
  for (const Op* op : all_ops()) {
    if (!kernels::fours_of(*op)) continue;
    ++operators;
    for (const ScalarType dtype : op->dtypes) {
      const Sample sample = op->samples(dtype).front();
      for (const Shape& sizes : {Shape{}, Shape{0}, Shape{1}, Shape{2}, Shape{3}, Shape{4},
                                 Shape{5, 7}, Shape{3, 2, 11}, Shape{1000}, Shape{131, 257}}) {
        Graph graph;
        std::vector<NumberRef> numbers;
        for (const Scalar& number : sample.numbers) numbers.push_back({-1, number});
        const std::int32_t node =
            graph.add_node(*op, {}, Attrs().add(IntArrayRef(sizes)).add(dtype), numbers);
        graph.outputs.push_back({graph.nodes[static_cast<std::size_t>(node)].outputs[0], -1, 0});
        const Outcome eager = run_eagerly(graph, {}, {});
        const std::string difference =
            compare(graph, run_program(graph, {}, {}, ProgramOptions{}), eager);
        EXPECT_EQ(difference, "") << op->name << ' ' << name(dtype) << ' ' << to_string(sizes);
        if (element_count(sizes) > 100) continue;
        EXPECT_EQ(compare_programs(graph, 1, false), "") << op->name << ' ' << to_string(sizes);
      }
    }
  }
  EXPECT_GE(operators, 9);  // four with their twins, and the mask of dropout
}

}  // namespace
}  // namespace groove::jit
