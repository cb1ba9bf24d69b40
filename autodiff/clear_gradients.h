// zero_grad() of optimizers and modules: one library call that walks leaves.
#pragma once

#include "groove/array_ref.h"
#include "src/core/op.h"
#include "src/core/tensor_impl.h"

namespace groove::autodiff {

/// Has the leaf a gradient, when what runs have changed is there?
bool has_gradient(TensorImpl& leaf);
/// The op by which such a call is known.
const Op& define_clearing(const char* name);
/// Takes the gradients of the leaves away, or fills those that exist with zeros. Null: no leaf.
void clear_gradients(const Op& op, ArrayRef<TensorImpl*> leaves, bool set_to_none, Site site);

}  // namespace groove::autodiff
