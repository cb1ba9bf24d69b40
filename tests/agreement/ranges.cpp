// Factories whose elements follow a rule, and random fills by what does not depend on the numbers.
#include "cases.h"

using namespace agreement;
using torch::Tensor;

CASE(ranges) {
  const auto f64 = torch::TensorOptions(torch::kDouble);
  show("logspace", torch::logspace(-2, 3, 6, 10.0, f64));
  show("logspace base", torch::logspace(0, 4, 5, 2.0, f64));
  show("logspace dtype", torch::logspace(0, 2, 3));
  show("logspace none", torch::logspace(0, 2, 0));
  show("range", torch::range(1, 4, 1));
  show("range step", torch::range(0.5, 3, 0.5, f64));
  show("range back", torch::range(3, 0, -1));
  show_error("range", [] { torch::range(3, 0, 1); });
  for (const int offset : {0, 1, -1, 3, -4}) {
    const std::string name = " " + std::to_string(offset);
    show("tril_indices" + name, torch::tril_indices(3, 4, offset));
    show("triu_indices" + name, torch::triu_indices(3, 4, offset));
    show("tril_indices tall" + name, torch::tril_indices(5, 2, offset));
    show("triu_indices tall" + name, torch::triu_indices(5, 2, offset));
  }
  show("tril_indices int", torch::tril_indices(2, 2, 0, torch::kInt));
  show("triu_indices none", torch::triu_indices(0, 3));
  show_error("tril_indices", [] { torch::tril_indices(-1, 3); });
}

CASE(windows) {
  const auto f64 = torch::TensorOptions(torch::kDouble);
  for (const int length : {0, 1, 2, 5, 8}) {
    const std::string name = " " + std::to_string(length);
    show("bartlett" + name, torch::bartlett_window(length, f64));
    show("hann" + name, torch::hann_window(length, f64));
    show("hamming" + name, torch::hamming_window(length, f64));
    show("blackman" + name, torch::blackman_window(length, f64));
    show("kaiser" + name, torch::kaiser_window(length, f64));
    show("bartlett whole" + name, torch::bartlett_window(length, false, f64));
    show("hann whole" + name, torch::hann_window(length, false, f64));
    show("hamming whole" + name, torch::hamming_window(length, false, f64));
    show("hamming alpha" + name, torch::hamming_window(length, true, 0.6, f64));
    show("hamming both" + name, torch::hamming_window(length, false, 0.6, 0.3, f64));
    show("blackman whole" + name, torch::blackman_window(length, false, f64) + 1);
    show("kaiser whole" + name, torch::kaiser_window(length, false, f64));
    show("kaiser beta" + name, torch::kaiser_window(length, false, 5.0, f64));
  }
  show("dtype", torch::hann_window(4).to(torch::kDouble).round());
  show_error("negative", [] { torch::hann_window(-1); });
  show_error("integers", [] { torch::hann_window(3, torch::kLong); });
}

CASE(strided) {
  const auto strides = [](const Tensor& x) {
    std::string text;
    for (const auto stride : x.strides()) text += std::to_string(stride) + " ";
    return text;
  };
  show("empty_strided", strides(torch::empty_strided({2, 3, 4}, {1, 8, 2})));
  show("new_empty_strided", strides(filled({2}).new_empty_strided({2, 3}, {1, 2})));
  show("zeros", torch::empty_strided({2, 3}, {1, 2}).zero_());
  show_error("strides", [] { torch::empty_strided({2, 3}, {1}); });
}

CASE(draws) {
  const auto mean = [](const Tensor& x) { return torch::round(x.mean() * 10) / 10; };
  const auto wide = [] { return torch::empty({200000}, torch::kDouble); };
  show("exponential_", mean(wide().exponential_(2)));
  show("exponential_ least", (wide().exponential_() >= 0).all());
  show("log_normal_", mean(wide().log_normal_(0, 0.5).log()));
  show("cauchy_", mean((wide().cauchy_(3, 2) > 5).to(torch::kDouble)));
  show("geometric_", mean(wide().geometric_(0.5)));
  show("geometric_ least", wide().geometric_(0.9).min());
  show("geometric_ of integers", torch::empty({50000}, torch::kLong).geometric_(0.5).min());
  show_error("exponential_", [&] { wide().exponential_(-1); });
  show_error("cauchy_", [&] { wide().cauchy_(0, -1); });
  show_error("geometric_", [&] { wide().geometric_(1.5); });
  show_error("log_normal_", [&] { wide().log_normal_(0, -1); });
}
