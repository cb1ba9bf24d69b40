// What the tests of errors, strictness and reports share: a fixture that compiles at once, and a
// log of everything that two runs of one program must have in common.
#pragma once

#include <fmt/format.h>
#include <groove/groove.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <string>

#include "tracer/tell/testing.h"

namespace groove::testing {

class Tell : public ::testing::Test {
 protected:
  void SetUp() override { start(jit::Mode::kAuto); }
  void TearDown() override { start(jit::Mode::kAuto); }
  static void start(jit::Mode mode) {
    jit::set_mode(jit::Mode::kAuto);
    tracer::testing::force_exit_at(-1);
    tracer::testing::set_hot(1);
    tracer::testing::set_synchronous(true);
    tracer::testing::forget_everything();
    jit::set_mode(mode);
    manual_seed(7);
  }
};

class Log {
 public:
  void line(const std::string& value) { text += value + "\n"; }
  void number(double value) {
    char buffer[40];
    std::snprintf(buffer, sizeof(buffer), "%a", value);
    line(buffer);
  }
  void tensor(const Tensor& value) {
    const Tensor dense = value.detach().to(kDouble).contiguous();
    for (std::int64_t i = 0; i < dense.numel(); ++i) number(dense.const_data_ptr<double>()[i]);
    line("version " + std::to_string(value._version()));
  }
  void random_state() {
    const RandomState state = get_random_state();
    line("draws " + std::to_string(state.draws) + " of " + std::to_string(state.seed));
  }
  std::string text;
};

inline const char* name_of(jit::Mode mode) {
  return mode == jit::Mode::kEager ? "eager" : mode == jit::Mode::kAuto ? "auto" : "strict";
}

/// The first line in which two logs differ; empty when they do not.
inline std::string difference(const std::string& expected, const std::string& actual) {
  std::size_t at = 0;
  while (at < expected.size() && at < actual.size() && expected[at] == actual[at]) ++at;
  if (at == expected.size() && at == actual.size()) return "";
  const auto line_at = [at](const std::string& text) {
    const std::size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
    return text.substr(begin, text.find('\n', at) - begin);
  };
  return fmt::format("\"{}\" became \"{}\"", line_at(expected), line_at(actual));
}

}  // namespace groove::testing
