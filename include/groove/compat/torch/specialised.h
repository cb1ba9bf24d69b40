// Templates of LibTorch that programs specialise, which only their own namespace allows: they stand
// in torch itself, over Groove's.
#pragma once

#include "groove/compat/names.h"
#include "groove/data/transforms.h"

namespace torch::data::transforms {

/// Examples become one example of stacked tensors; specialise it for a type of example of your own.
template <typename ExampleType = Example<>>
struct Stack;

template <>
struct Stack<Example<>> : groove::data::transforms::Stack<Example<>> {};
template <>
struct Stack<TensorExample> : groove::data::transforms::Stack<TensorExample> {};

}  // namespace torch::data::transforms
