// Copies between geometries, with conversion: the plainest elementwise kernel.
#include <utility>

#include "eager/kept_kernels.h"
#include "eager/plan.h"
#include "kernels/backend.h"

namespace groove::eager {

void copy_elements(const Tensor& src, const Tensor& dst) {
  const TensorImpl& from = *src.impl();
  const TensorImpl& to = *dst.impl();
  if (to.numel == 0) return;
  const kernels::Box box =
      kernels::collapse(to.geometry.sizes, {from.geometry.strides, to.geometry.strides});
  const kernels::StrideClass read = kernels::stride_class(box.strides[0][0], box.count[0]);
  const kernels::StrideClass written = kernels::stride_class(box.strides[1][0], box.count[0]);
  KernelKey key;
  key.add(from.dtype);
  key.add(to.dtype);
  key.add(read);
  key.add(written);
  const auto callable = kept_kernel(std::move(key), [&] {
    kernels::Builder builder;
    builder.store(to.dtype, written, kernels::convert(builder.load(from.dtype, read), to.dtype));
    return builder.finish();
  });
  void* pointers[] = {from.data(), to.data()};
  kernels::Launch launch;
  kernels::describe(launch, box);
  launch.pointers = pointers;
  kernels::run_parallel(*callable, kernels::Order::kMap, launch);
}

Tensor contiguous_copy(const Tensor& src) {
  if (src.impl()->is_contiguous) return src;
  Tensor copy = make_empty(src.impl()->geometry.sizes, src.impl()->dtype, src.impl()->device);
  copy_elements(src, copy);
  return copy;
}

}  // namespace groove::eager
