// The ops that the engine itself needs, through the dispatcher like every gradient rule.
#pragma once

#include "src/core/op.h"

namespace groove::autodiff {

Tensor zeros_of(const Type& type);
Tensor ones_like_root(const Tensor& root);
Tensor sum_of(const Tensor& a, const Tensor& b);
void add_in_place(Tensor& target, const Tensor& value);
/// The gradient itself when nothing else can see its memory, otherwise a contiguous copy.
Tensor owned_gradient(const Tensor& gradient);
/// A gradient in the dtype and shape of what it is the gradient of: cast, summed over broadcast
/// axes. Throws groove::Error naming `op` when the shapes cannot be reconciled.
Tensor conform(const Tensor& gradient, const Type& type, const char* op);
/// A contiguous copy (clone op).
Tensor copy_of(const Tensor& tensor);
void copy_into(Tensor& target, const Tensor& source);

}  // namespace groove::autodiff
