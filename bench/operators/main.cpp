// operators [part of a name]: a line for each case, its name, a tab, microseconds.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "cases.h"

using torch::Tensor;

namespace {

double now() {
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(time).count();
}

double checksum = 0;  // results must be used

}  // namespace

void Measure::alone(const std::string& name, const Function& function) {
  if (name.find(filter_) == std::string::npos) return;
  constexpr double kTurn = 0.01, kAll = 0.05, kAtMost = 3;
  try {
    Tensor result = function();
    const double first = now();
    function();
    const int calls = std::clamp(static_cast<int>(kTurn / (now() - first)), 1, 2000);
    std::vector<double> turns;
    const double begin = now();
    while ((turns.size() < 5 && now() - begin < kAtMost) ||
           (turns.size() < 50 && now() - begin < kAll)) {
      const double start = now();
      for (int i = 0; i < calls; ++i) result = function();
      turns.push_back((now() - start) / calls);
    }
    if (result.numel() > 0) checksum += result.reshape(-1)[0].to(torch::kDouble).item<double>();
    std::sort(turns.begin(), turns.end());
    std::printf("%s, %s\t%.3f\n", name.c_str(), size_.c_str(), turns[turns.size() / 4] * 1e6);
  } catch (const std::exception& error) {
    const std::string text = error.what();
    std::fprintf(stderr, "%s, %s: %s\n", name.c_str(), size_.c_str(),
                 text.substr(0, text.find('\n')).c_str());
  }
  std::fflush(stdout);
}

void Measure::forward(const std::string& name, const Function& function) {
  const torch::NoGradGuard no_grad;
  alone(name, function);
}

void Measure::both(const std::string& name, std::vector<Tensor> inputs, const Function& function) {
  forward(name, function);
  alone(name + " and gradient", [&] {
    for (Tensor& input : inputs) input.mutable_grad() = Tensor();
    function().sum().backward();
    return inputs[0].grad();
  });
}

Operands::Operands(std::int64_t n)
    : n(n),
      x(torch::randn({n, n})),
      y(torch::randn({n, n})),
      positive(x.abs() + 0.1),
      row(torch::randn({n})),
      column(torch::randn({n, 1})),
      p(parameter({n, n})),
      q(parameter({n, n})),
      mask(x > 0),
      whole(torch::randint(0, n, {n, n}, torch::kLong)),
      index(torch::randint(0, n, {n}, torch::kLong)) {}

Tensor parameter(torch::IntArrayRef sizes) { return torch::randn(sizes).requires_grad_(); }

int main(int argc, char** argv) {
  const std::string filter = argc > 1 ? argv[1] : "";
  torch::manual_seed(1);
  for (const bool is_large : {false, true}) {
    Measure measure(filter, is_large ? "large" : "small");
    const Operands on(is_large ? 1024 : 64);
    elements(measure, on);
    lines(measure, on);
    places(measure, on);
    products(measure, on);
    gradients(measure, on);
    matrices(measure, is_large ? 256 : 16);
    layers(measure, is_large ? 16 : 2, is_large ? 32 : 8, is_large ? 64 : 16);
    sequences(measure, is_large ? 16 : 2, is_large ? 64 : 8, is_large ? 128 : 16);
    steps(measure, is_large ? 512 : 16);
  }
  std::fprintf(stderr, "checksum %g\n", checksum);
}
