// The anchors' loops. The source is plain LibTorch and is built once with each library.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

class Anchor {
 public:
  virtual ~Anchor() = default;
  /// Runs a block of steps and reads every result that is kept; gives the last one (a loss).
  virtual double run(std::int64_t steps) = 0;
};
using AnchorPtr = std::unique_ptr<Anchor>;

/// By name, A1 to A16 (bench/anchors/anchors.cpp lists them). Throws std::invalid_argument for any
/// other.
AnchorPtr make_anchor(const std::string& name);

// By family; null for a name of another one.
AnchorPtr make_perceptron(const std::string& name);
AnchorPtr make_convolutional(const std::string& name);
AnchorPtr make_recurrent(const std::string& name);
AnchorPtr make_transformer(const std::string& name);
AnchorPtr make_operators(const std::string& name);
AnchorPtr make_varying(const std::string& name);

void use_threads(int threads);
