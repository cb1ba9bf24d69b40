// Runs all cases, or those with a text in their name, and prints what they show: a line for each,
// its name before it: the file's, the case's and its own.
#include "cases.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <utility>

namespace agreement {
namespace {

std::vector<std::pair<std::string, void (*)()>>& cases() {
  static auto& all = *new std::vector<std::pair<std::string, void (*)()>>;
  return all;
}
std::string current;

void begin_line(const std::string& name) { std::cout << current << " " << name << ": "; }

std::string dtype_name(const torch::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case torch::kBool:
      return "bool";
    case torch::kByte:
      return "u8";
    case torch::kInt:
      return "i32";
    case torch::kLong:
      return "i64";
    case torch::kFloat:
      return "f32";
    case torch::kDouble:
      return "f64";
    case torch::kComplexFloat:
      return "c64";
    case torch::kComplexDouble:
      return "c128";
    default:
      return "other";
  }
}

// Of complex numbers both parts.
torch::Tensor parts_of(const torch::Tensor& result) {
  return result.is_complex() ? torch::view_as_real(result.resolve_conj()) : result;
}

}  // namespace

torch::Tensor filled(torch::IntArrayRef sizes, std::int64_t j) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  std::vector<double> values;
  for (std::int64_t k = 0; k < count; ++k)
    values.push_back(static_cast<double>((k * 61 + 37 * j + 11) % 199 - 99) / 100);
  return torch::tensor(values, torch::kDouble).reshape(sizes);
}

torch::Tensor leaf(torch::IntArrayRef sizes, std::int64_t j) {
  return filled(sizes, j).clone().requires_grad_();
}

void show(const std::string& name, const torch::Tensor& result) {
  begin_line(name);
  std::cout << dtype_name(result) << " [";
  for (std::int64_t i = 0; i < result.dim(); ++i) std::cout << (i ? ", " : "") << result.size(i);
  std::cout << "]";
  const torch::Tensor flat = parts_of(result).detach().to(torch::kDouble).contiguous().reshape({-1});
  for (std::int64_t i = 0; i < flat.numel(); ++i) {
    char text[40];
    std::snprintf(text, sizeof text, " %.9g", flat[i].item<double>());
    std::cout << text;
  }
  std::cout << "\n";
}

void show(const std::string& name, double result) {
  begin_line(name);
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", result);
  std::cout << text << "\n";
}

void show(const std::string& name, const std::string& result) {
  begin_line(name);
  std::string line = result;
  std::replace(line.begin(), line.end(), '\n', '|');
  std::cout << "'" << line << "'\n";
}

void show_gradients(const std::string& name, const torch::Tensor& result,
                    const std::vector<torch::Tensor>& inputs) {
  show(name, result);
  for (const torch::Tensor& input : inputs)
    if (input.grad().defined() && input.is_complex())
      input.grad().zero_();
    else if (input.grad().defined())
      input.mutable_grad() = torch::Tensor();
  const torch::Tensor parts = parts_of(result);
  (parts * filled(parts.sizes(), 3)).sum().backward();
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].grad().defined())
      show(name + " gradient " + std::to_string(i), inputs[i].grad());
    else
      show(name + " gradient " + std::to_string(i), std::string("none"));
}

void show_both(const std::string& name, const std::tuple<torch::Tensor, torch::Tensor>& picked,
               const torch::Tensor& input) {
  show(name + " positions", std::get<1>(picked));
  show_gradients(name, std::get<0>(picked), {input});
}

void show_error(const std::string& name, const std::function<void()>& call) {
  std::string result = "nothing";
  try {
    call();
  } catch (const c10::Error&) {
    result = "error";
  } catch (const std::exception&) {
    result = "another exception";
  }
  show(name, "throws " + result);
}

void fill(torch::nn::Module& module) {
  module.to(torch::kDouble);
  const torch::NoGradGuard no_grad;
  std::int64_t j = 5;
  for (torch::Tensor& parameter : module.parameters())
    parameter.copy_(filled(parameter.sizes(), j++));
}

int add_case(const char* file, const char* name, void (*run)()) {
  std::string topic = file;
  topic = topic.substr(topic.rfind('/') + 1);
  cases().emplace_back(topic.substr(0, topic.rfind('.')) + "/" + name, run);
  return 0;
}

}  // namespace agreement

int main(int count, char** arguments) {
  using namespace agreement;
  std::sort(cases().begin(), cases().end());
  for (const auto& [name, run] : cases()) {
    if (count > 1 && name.find(arguments[1]) == std::string::npos) continue;
    current = name;
    try {
      run();
    } catch (const std::exception& error) {
      std::cout << name << ": fails: " << std::string(error.what()).substr(0, 200) << "\n";
    }
  }
}
