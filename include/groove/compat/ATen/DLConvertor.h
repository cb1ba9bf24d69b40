// LibTorch's names for what groove/dlpack.h has.
#pragma once

#include "groove/compat/torch/torch.h"
#include "groove/dlpack.h"

namespace at {

inline DLManagedTensor* toDLPack(const groove::Tensor& src) { return groove::to_dlpack(src); }
inline DLManagedTensorVersioned* toDLPackVersioned(const groove::Tensor& src) {
  return groove::to_dlpack_versioned(src);
}
inline groove::Tensor fromDLPack(DLManagedTensor* src, std::function<void(void*)> deleter = {}) {
  return groove::from_dlpack(src, std::move(deleter));
}
inline groove::Tensor fromDLPackVersioned(DLManagedTensorVersioned* src,
                                          std::function<void(void*)> deleter = {}) {
  return groove::from_dlpack(src, std::move(deleter));
}

}  // namespace at
