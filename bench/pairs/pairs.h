// Training loops in pairs of fresh processes, eager and automatic in turns.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "groove/groove.h"

namespace pairs {

using Step = std::function<groove::Tensor(int)>;  // trains once and gives the loss

struct Loop {
  std::string name;
  std::function<Step()> make;
};

class Pairs {
 public:
  // Its options are added to the program's.
  explicit Pairs(CLI::App& app);

  // Prints a row for each loop: time of the whole run and of its last half against eager mode's,
  // the share of the operators that ran compiled in both, and the last step during which something
  // was compiled. False if a loop has other bits.
  bool compare(const std::vector<Loop>& loops) const;

 private:
  int steps_ = 2000, pairs_ = 5;
  std::string only_;
};

// A step of Adam on a loss that `loss_of` makes of these parameters.
Step learn(std::vector<groove::Tensor> parameters, std::function<groove::Tensor(int)> loss_of);

// Two layers with a hyperbolic tangent between them.
groove::nn::Sequential network(std::int64_t in, std::int64_t hidden, std::int64_t out);

}  // namespace pairs
