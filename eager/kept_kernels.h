// Plans are made for every size that comes, kernels are few: each is kept under all that it is made
// of, so that a plan at another size makes none. What an operator's body is depends on no size, so
// on no list among its attributes (kernels/lowering.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "kernels/backend.h"
#include "src/core/dispatch.h"

namespace groove::eager {

class KernelKey {
 public:
  /// Of a kernel that is no operator's.
  KernelKey();
  KernelKey(const Call& call, ArrayRef<Type> inputs, const TypeResult& types);
  /// Whatever else decides: dtypes of numbers, classes of strides.
  void add(auto word) { words_.push_back(static_cast<std::uint64_t>(word)); }
  const std::vector<std::uint64_t>& words() const { return words_; }

 private:
  std::vector<std::uint64_t> words_;
};

/// For the backend and the instruction set of now. `make` is called where there is none yet.
std::shared_ptr<const kernels::Callable> kept_kernel(KernelKey key,
                                                     const std::function<kernels::Kernel()>& make);

}  // namespace groove::eager
