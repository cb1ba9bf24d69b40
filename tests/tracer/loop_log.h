// What a loop writes down: every bit that a program could observe.
#pragma once

#include <groove/groove.h>

#include <cstdio>
#include <string>
#include <vector>

namespace groove::testing {

class Log {
 public:
  void number(double value) {
    char buffer[40];
    std::snprintf(buffer, sizeof(buffer), "%a\n", value);
    text += buffer;
  }
  void integer(long long value) { text += std::to_string(value) + "\n"; }
  // All elements as bits of their value; NaN equals NaN.
  void tensor(const Tensor& value) {
    if (!value.defined()) {
      text += "undefined\n";
      return;
    }
    const Tensor dense = value.detach().to(kDouble).contiguous();
    for (std::int64_t i = 0; i < dense.numel(); ++i) number(dense.const_data_ptr<double>()[i]);
    integer(value._version());
  }
  void parameter(const Tensor& value) {
    tensor(value);
    tensor(value.grad());
    integer(value.requires_grad());
    integer(value.is_leaf());
  }
  void parameters(const std::vector<Tensor>& all) {
    for (const Tensor& value : all) parameter(value);
    tensor(groove::rand({2}));  // the random state
  }
  void line(const std::string& value) { text += value + "\n"; }
  std::string text;
};

}  // namespace groove::testing
