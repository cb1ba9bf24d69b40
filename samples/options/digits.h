// The 10,000 handwritten digits that come with the samples, in two parts: to learn from, and to be
// tested on.
#pragma once

#include <groove/groove.h>

#include <optional>
#include <string>

class Digits : public groove::data::datasets::Dataset<Digits> {
 public:
  // The digits [first, first + count).
  Digits(const std::string& folder, size_t first, size_t count)
      : digits_(folder, groove::data::datasets::MNIST::Mode::kTest), first_(first), count_(count) {}

  groove::data::Example<> get(size_t index) override { return digits_.get(first_ + index); }
  std::optional<size_t> size() const override { return count_; }

 private:
  groove::data::datasets::MNIST digits_;
  size_t first_, count_;
};

inline auto normalized_digits(const std::string& folder, size_t first, size_t count) {
  return Digits(folder, first, count)
      .map(groove::data::transforms::Normalize<>(0.1307, 0.3081))
      .map(groove::data::transforms::Stack<>());
}

// Percent of the last 2,000 digits that a model names rightly.
template <typename Net>
double test_accuracy(Net& model, const std::string& folder) {
  groove::NoGradGuard no_grad;
  model.eval();
  auto loader = groove::data::make_data_loader<groove::data::samplers::SequentialSampler>(
      normalized_digits(folder, 8000, 2000), 500);
  int64_t correct = 0;
  for (auto& batch : *loader) {
    auto guess = model.forward(batch.data).argmax(1);
    correct += guess.eq(batch.target).sum().template item<int64_t>();
  }
  return static_cast<double>(correct) / 20.0;
}
