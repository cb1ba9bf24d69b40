// Single operators as users call them, timed one by one: one source for Groove and for LibTorch
// (bench/operators/run builds it against both).
#pragma once

#include <torch/torch.h>

#include <functional>
#include <string>
#include <vector>

/// Times what is called in turns of about 10 ms and prints the lower quartile, in microseconds.
class Measure {
 public:
  /// Only cases whose name holds `filter`; `size` is printed behind each name.
  Measure(std::string filter, std::string size)
      : filter_(std::move(filter)), size_(std::move(size)) {}

  using Function = std::function<torch::Tensor()>;
  void alone(const std::string& name, const Function& function);
  /// Without a tape.
  void forward(const std::string& name, const Function& function);
  /// Without a tape, then with the gradient of the result's sum for the inputs.
  void both(const std::string& name, std::vector<torch::Tensor> inputs, const Function& function);

 private:
  std::string filter_, size_;
};

/// Tensors of n x n elements (row: n, column: n x 1).
struct Operands {
  explicit Operands(std::int64_t n);
  std::int64_t n;
  torch::Tensor x, y, positive, row, column;
  torch::Tensor p, q;         // with gradients
  torch::Tensor mask, whole;  // bool; 0 <= i64 < n
  torch::Tensor index;        // n such numbers
};

torch::Tensor parameter(torch::IntArrayRef sizes);

void elements(Measure& measure, const Operands& on);
void lines(Measure& measure, const Operands& on);
void places(Measure& measure, const Operands& on);
void products(Measure& measure, const Operands& on);
void gradients(Measure& measure, const Operands& on);
void matrices(Measure& measure, std::int64_t n);
void layers(Measure& measure, std::int64_t N, std::int64_t C, std::int64_t H);
void sequences(Measure& measure, std::int64_t N, std::int64_t T, std::int64_t D);
void steps(Measure& measure, std::int64_t rows);
