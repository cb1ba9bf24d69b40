// Programs that are built against LibTorch and Groove and print what they compute: both must agree.
#pragma once

#include <torch/torch.h>

#include <functional>
#include <iostream>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

namespace agreement {

/// Numbers that are the same for both libraries: number k of tensor j lies in [-1, 1], and in small
/// tensors no two are the same. Double.
torch::Tensor filled(torch::IntArrayRef sizes, std::int64_t j = 0);
/// The same as a leaf that wants a gradient.
torch::Tensor leaf(torch::IntArrayRef sizes, std::int64_t j = 0);

/// Prints dtype, shape and values.
void show(const std::string& name, const torch::Tensor& result);
void show(const std::string& name, double result);
void show(const std::string& name, const std::string& result);
/// Prints the result and what `inputs` get as gradients of its sum, each element weighted.
void show_gradients(const std::string& name, const torch::Tensor& result,
                    const std::vector<torch::Tensor>& inputs);
/// A result and the positions that it was taken from.
void show_both(const std::string& name, const std::tuple<torch::Tensor, torch::Tensor>& picked,
               const torch::Tensor& input);
/// A loss of options with the mean, the sum and with no reduction.
template <typename Options, typename Loss>
void show_reductions(const std::string& name, Options options, const Loss& loss,
                     const std::vector<torch::Tensor>& inputs) {
  show_gradients(name + " mean", loss(options.reduction(torch::kMean)), inputs);
  show_gradients(name + " sum", loss(options.reduction(torch::kSum)), inputs);
  show_gradients(name + " none", loss(options.reduction(torch::kNone)), inputs);
}
/// Prints whether a call throws the library's error.
void show_error(const std::string& name, const std::function<void()>& call);
/// A module, or a holder of one, as it prints itself.
template <typename Module>
std::string printed(const Module& module) {
  std::ostringstream text;
  text << module;
  return text.str();
}
/// Gives the parameters of a module the numbers of `filled`, in double.
void fill(torch::nn::Module& module);

int add_case(const char* file, const char* name, void (*run)());

}  // namespace agreement

#define CASE(name)                                                                  \
  static void run_##name();                                                         \
  static const int added_##name = agreement::add_case(__FILE__, #name, run_##name); \
  static void run_##name()
