// The anchors' training loops. The source is plain LibTorch and is built once with each library.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

class Anchor {
 public:
  virtual ~Anchor() = default;
  /// Runs a block of training steps and reads every result that is kept; gives the last loss.
  virtual double run(std::int64_t steps) = 0;
};

/// By name: A1, A2, A3. Throws std::invalid_argument for any other.
std::unique_ptr<Anchor> make_anchor(const std::string& name);

void use_threads(int threads);
