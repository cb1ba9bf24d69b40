// The namespaces of LibTorch as names of Groove's: torch, at and c10.
#pragma once

#include <cstdint>
#include <optional>

#include "groove/arg.h"
#include "groove/compat/c10/util/Exception.h"
#include "groove/groove.h"

#define TORCH_MODULE(Name) GROOVE_MODULE(Name)
#define TORCH_MODULE_IMPL(Name, ImplType) GROOVE_MODULE_IMPL(Name, ImplType)
#define TORCH_ARG(T, name) GROOVE_ARG(T, name)

namespace torch {
using namespace groove;
namespace jit {}
}  // namespace torch

namespace at {
using namespace groove;
using std::nullopt;
using std::optional;

// Switches of libraries that Groove does not use; accepted and without effect.
class Context {
 public:
  void setDeterministicCuDNN(bool) {}
  void setBenchmarkCuDNN(bool) {}
  void setAllowTF32CuBLAS(bool) {}
  void setAllowTF32CuDNN(bool) {}
  void setDeterministicAlgorithms(bool, bool) {}
  static bool hasCUDA() { return false; }
};
inline Context& globalContext() {
  static Context context;
  return context;
}
}  // namespace at

namespace c10 {
using namespace groove;
using std::make_optional;
using std::nullopt;
using std::nullopt_t;
using std::optional;
}  // namespace c10

namespace torch {
using at::globalContext;
}  // namespace torch
