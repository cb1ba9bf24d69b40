#include "autodiff/clear_gradients.h"

#include "groove/autograd.h"
#include "src/core/autograd_meta.h"
#include "src/core/dispatch.h"

namespace groove::autodiff {

bool has_gradient(TensorImpl& leaf) {
  settle_gradient(leaf);
  return leaf.autograd && leaf.autograd->grad.defined();
}

const Op& define_clearing(const char* name) {
  return define({.name = name,
                 .kind = OpKind::kBig,
                 .inputs = 0,
                 .outputs = 0,
                 .attributes = {{"set_to_none", AttrType::kBool}},
                 .mutates = {},
                 .has_inplace = false});
}

void clear_gradients(const Op& op, ArrayRef<TensorImpl*> leaves, bool set_to_none, Site site) {
  // Filling with zeros is another expansion when other gradients exist.
  std::uint64_t structure = 1;
  if (!set_to_none)
    for (TensorImpl* const leaf : leaves)
      structure = structure * 0x9E3779B97F4A7C15u + (leaf && has_gradient(*leaf) ? 2 : 1);
  const Attrs attrs = Attrs().add(std::int64_t{set_to_none});
  const LibraryCall call{&op, {}, &attrs, {}, site, leaves, structure};
  run_library_call(call, [&] {
    const NoGradGuard no_grad;
    for (TensorImpl* const leaf : leaves) {
      if (!leaf) continue;
      if (set_to_none) {
        set_grad(*leaf, Tensor());
      } else if (has_gradient(*leaf)) {
        use_grad(*leaf);
        leaf->autograd->grad.zero_();
      }
    }
  });
}

}  // namespace groove::autodiff
