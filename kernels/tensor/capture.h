// Functions of the program as graphs: called once with tensors that stand for values. Tensors that
// they close over become further inputs, the same ones for all functions of one operator.
#pragma once

#include <functional>
#include <vector>

#include "kernels/ops/graph_builder.h"

namespace groove {

class FunctionCapture {
 public:
  /// `op` is for messages.
  explicit FunctionCapture(const char* op) : op_(op) {}
  FunctionCapture(const FunctionCapture&) = delete;
  FunctionCapture& operator=(const FunctionCapture&) = delete;

  /// Calls `function` on stand-ins of these types. `role` is for messages. Its draws are numbered
  /// from `first_draw` on.
  void add(const char* role, const std::function<Tensors(const Tensors&)>& function,
           ArrayRef<Type> types, std::uint64_t first_draw = 0);
  /// How many draws one call of them takes, whichever of them run.
  std::uint64_t draws() const { return draws_; }
  /// Types of its results.
  std::vector<Type> results(std::size_t function) const;
  const Tensors& closed_over() const { return closed_over_; }
  /// After all functions were added: the graph, once.
  Graph take(std::size_t function);
  /// The same as a number.
  std::int64_t finish(std::size_t function);
  /// After all are finished, in order: takes draws for so many calls and has the numbers say which.
  void take_draws(std::uint64_t calls);
  /// The entry numbers of all graphs, one graph after the other.
  const std::vector<Scalar>& numbers() const { return numbers_; }

 private:
  struct Function {
    Graph graph;
    std::size_t own_inputs = 0;
    std::vector<ValueId> closures;  // of closed_over_; kNoValue: not read
  };
  struct Running;  // the function that is being called

  const char* op_;
  std::vector<Function> functions_;
  Tensors closed_over_;
  std::vector<Scalar> numbers_;
  std::vector<std::int64_t> finished_;
  std::uint64_t draws_ = 0;
};

}  // namespace groove
