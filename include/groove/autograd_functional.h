// Derivatives of functions of tensors, as Python's torch.autograd.functional: products with
// vectors, whole Jacobians and Hessians.
#pragma once

#include <functional>
#include <utility>

#include "groove/autograd.h"

namespace groove::autograd::functional {

using Function = std::function<variable_list(const variable_list& inputs)>;
using ScalarFunction = std::function<Tensor(const variable_list& inputs)>;
/// What the function gives there, and a product for each input or output.
using Product = std::pair<variable_list, variable_list>;

// The function is called with tensors of its own of the inputs' values. A tensor that does not
// depend on another has zeros for a derivative. With create_graph the results can be
// differentiated, by the inputs as well. Vectors have the shapes of what they multiply, and may be
// left out for one element. Throws groove::Error for no or undefined inputs and results, and
// vectors of other shapes.

/// Sums over results of vector times derivative: a product for each input.
Product vjp(const Function& function, const variable_list& inputs, const variable_list& v = {},
            bool create_graph = false, Site site = Site::current());
/// Sums over inputs of derivative times vector: a product for each result.
Product jvp(const Function& function, const variable_list& inputs, const variable_list& v = {},
            bool create_graph = false, Site site = Site::current());

/// [i][j]: the derivatives of result i by input j, of the shape of the one and then of the other.
std::vector<variable_list> jacobian(const Function& function, const variable_list& inputs,
                                    bool create_graph = false, Site site = Site::current());
/// … of one result by one input.
Tensor jacobian(const std::function<Tensor(const Tensor&)>& function, const Tensor& input,
                bool create_graph = false, Site site = Site::current());

/// Of a function with one result of one element, [i][j]: its derivatives by inputs i and j.
std::vector<variable_list> hessian(const ScalarFunction& function, const variable_list& inputs,
                                   bool create_graph = false, Site site = Site::current());
Tensor hessian(const std::function<Tensor(const Tensor&)>& function, const Tensor& input,
               bool create_graph = false, Site site = Site::current());
/// The Hessian's product with a vector, from the right; the function's result stands in front.
Product hvp(const ScalarFunction& function, const variable_list& inputs, const variable_list& v,
            bool create_graph = false, Site site = Site::current());
/// … from the left, which costs less.
Product vhp(const ScalarFunction& function, const variable_list& inputs, const variable_list& v,
            bool create_graph = false, Site site = Site::current());

}  // namespace groove::autograd::functional
