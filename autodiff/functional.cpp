// Derivatives of functions: gradients of gradients, put together.
#include "groove/autograd_functional.h"

#include "groove/ops/creation.h"
#include "groove/ops/views.h"
#include "src/core/check.h"
#include "src/core/dispatch.h"

namespace groove::autograd::functional {
namespace {

void check_defined(const char* name, const char* what, const variable_list& tensors) {
  GROOVE_CHECK(!tensors.empty(), "{}: there are no {}s", name, what);
  for (std::size_t i = 0; i < tensors.size(); ++i)
    GROOVE_CHECK(tensors[i].defined(), "{}: {} {} is undefined", name, what, i);
}

// The inputs as the function sees them: with a graph of their own, or continuing the program's.
variable_list copies_of(const char* name, const variable_list& inputs, bool create_graph) {
  check_defined(name, "input", inputs);
  variable_list copies;
  for (const Tensor& input : inputs)
    copies.push_back(create_graph && input.requires_grad() ? input.view_as(input)
                                                           : input.detach().requires_grad_());
  return copies;
}

variable_list results_of(const char* name, const Function& function, const variable_list& inputs) {
  variable_list results = function(inputs);
  check_defined(name, "result", results);
  return results;
}

// One of ones where nothing is given for one element.
variable_list vectors_for(const char* name, const variable_list& v, const variable_list& of) {
  if (v.empty() && of.size() == 1 && of[0].numel() == 1) return {ones_like(of[0])};
  GROOVE_CHECK(v.size() == of.size(), "{}: {} vectors for {} tensors", name, v.size(), of.size());
  for (std::size_t i = 0; i < v.size(); ++i)
    GROOVE_CHECK(v[i].defined() && v[i].sizes() == of[i].sizes(),
                 "{}: vector {} must have the shape {}", name, i, to_string(Shape(of[i].sizes())));
  return v;
}

// Gradients of what has a history, with zeros where nothing leads.
variable_list gradients_of(const variable_list& outputs, const variable_list& inputs,
                           const variable_list& v, bool create_graph) {
  variable_list roots, vectors, gradients(inputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].defined() || !outputs[i].requires_grad()) continue;
    roots.push_back(outputs[i]);
    vectors.push_back(v[i]);
  }
  if (!roots.empty()) gradients = grad(roots, inputs, vectors, true, create_graph, true);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (!gradients[i].defined()) gradients[i] = zeros_like(inputs[i]);
  return gradients;
}

variable_list told(variable_list tensors, bool create_graph) {
  if (!create_graph)
    for (Tensor& tensor : tensors) tensor = tensor.detach();
  return tensors;
}

// Linear in the gradients' vectors, so that its gradient by these is the derivative times v.
variable_list forward_products(const variable_list& results, const variable_list& inputs,
                               const variable_list& v, bool create_graph) {
  variable_list vectors;
  for (const Tensor& result : results) vectors.push_back(zeros_like(result).requires_grad_());
  const variable_list gradients = gradients_of(results, inputs, vectors, true);
  return gradients_of(gradients, vectors, v, create_graph);
}

std::vector<variable_list> jacobian_of(const variable_list& results, const variable_list& inputs,
                                       bool create_graph) {
  std::vector<variable_list> jacobians;
  for (const Tensor& result : results) {
    std::vector<Tensors> rows(inputs.size());
    const Tensor elements = result.reshape({-1});
    for (std::int64_t k = 0; k < result.numel(); ++k) {
      const Tensor element = elements.select(0, k);
      const variable_list row = gradients_of({element}, inputs, {ones_like(element)}, create_graph);
      for (std::size_t j = 0; j < inputs.size(); ++j) rows[j].push_back(row[j]);
    }
    variable_list& jacobian = jacobians.emplace_back();
    for (std::size_t j = 0; j < inputs.size(); ++j) {
      Shape sizes = Shape(result.sizes());
      for (const std::int64_t size : inputs[j].sizes()) sizes.push_back(size);
      jacobian.push_back(rows[j].empty() ? zeros(sizes, inputs[j].options())
                                         : stack(rows[j], 0).reshape(sizes));
    }
    jacobian = told(std::move(jacobian), create_graph);
  }
  return jacobians;
}

// A function's one result, with a gradient that has a history.
struct Slopes {
  variable_list inputs;
  Tensor result;
  variable_list slopes;
};
Slopes slopes_of(const char* name, const ScalarFunction& function, const variable_list& inputs,
                 bool create_graph) {
  Slopes at;
  at.inputs = copies_of(name, inputs, create_graph);
  at.result = function(at.inputs);
  check_defined(name, "result", {at.result});
  GROOVE_CHECK(at.result.numel() == 1, "{}: the result must have one element; it has shape {}",
               name, to_string(Shape(at.result.sizes())));
  at.slopes = gradients_of({at.result}, at.inputs, {ones_like(at.result)}, true);
  return at;
}

}  // namespace

Product vjp(const Function& function, const variable_list& inputs, const variable_list& v,
            bool create_graph, Site site) {
  const SiteScope scope(site);
  const AutoGradMode recording(true);
  const variable_list copies = copies_of("vjp", inputs, create_graph);
  const variable_list results = results_of("vjp", function, copies);
  const variable_list vectors = vectors_for("vjp", v, results);
  variable_list products = gradients_of(results, copies, vectors, create_graph);
  return {told(results, create_graph), told(std::move(products), create_graph)};
}

Product jvp(const Function& function, const variable_list& inputs, const variable_list& v,
            bool create_graph, Site site) {
  const SiteScope scope(site);
  const AutoGradMode recording(true);
  const variable_list copies = copies_of("jvp", inputs, create_graph);
  const variable_list vectors = vectors_for("jvp", v, copies);
  const variable_list results = results_of("jvp", function, copies);
  variable_list products = forward_products(results, copies, vectors, create_graph);
  return {told(results, create_graph), told(std::move(products), create_graph)};
}

std::vector<variable_list> jacobian(const Function& function, const variable_list& inputs,
                                    bool create_graph, Site site) {
  const SiteScope scope(site);
  const AutoGradMode recording(true);
  const variable_list copies = copies_of("jacobian", inputs, create_graph);
  return jacobian_of(results_of("jacobian", function, copies), copies, create_graph);
}

Tensor jacobian(const std::function<Tensor(const Tensor&)>& function, const Tensor& input,
                bool create_graph, Site site) {
  const Function one = [&](const variable_list& x) { return variable_list{function(x[0])}; };
  return jacobian(one, {input}, create_graph, site)[0][0];
}

std::vector<variable_list> hessian(const ScalarFunction& function, const variable_list& inputs,
                                   bool create_graph, Site site) {
  const SiteScope scope(site);
  const AutoGradMode recording(true);
  const Slopes at = slopes_of("hessian", function, inputs, create_graph);
  return jacobian_of(at.slopes, at.inputs, create_graph);
}

Tensor hessian(const std::function<Tensor(const Tensor&)>& function, const Tensor& input,
               bool create_graph, Site site) {
  const ScalarFunction one = [&](const variable_list& x) { return function(x[0]); };
  return hessian(one, {input}, create_graph, site)[0][0];
}

Product hvp(const ScalarFunction& function, const variable_list& inputs, const variable_list& v,
            bool create_graph, Site site) {
  const SiteScope scope(site);
  const AutoGradMode recording(true);
  const Slopes at = slopes_of("hvp", function, inputs, create_graph);
  const variable_list vectors = vectors_for("hvp", v, at.inputs);
  return {told({at.result}, create_graph),
          told(forward_products(at.slopes, at.inputs, vectors, create_graph), create_graph)};
}

Product vhp(const ScalarFunction& function, const variable_list& inputs, const variable_list& v,
            bool create_graph, Site site) {
  const SiteScope scope(site);
  const AutoGradMode recording(true);
  const Slopes at = slopes_of("vhp", function, inputs, create_graph);
  const variable_list vectors = vectors_for("vhp", v, at.inputs);
  return {told({at.result}, create_graph),
          told(gradients_of(at.slopes, at.inputs, vectors, create_graph), create_graph)};
}

}  // namespace groove::autograd::functional
