#include "tests/programs/program.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

namespace groove::programs {
namespace {

std::vector<Program>& table() {
  static std::vector<Program> programs;
  return programs;
}

}  // namespace

void print(const std::string& line) { std::printf("%s\n", line.c_str()); }

// NaN carries no bits that a program may rely on.
void print(const char* name, double value) {
  if (std::isnan(value))
    std::printf("%s nan\n", name);
  else
    std::printf("%s %a\n", name, value);
}

void print(const char* name, const Tensor& tensor) {
  if (!tensor.defined()) return print(std::string(name) + " undefined");
  const Tensor dense = tensor.detach().to(kDouble).contiguous();
  const double* const from = dense.const_data_ptr<double>();
  std::uint64_t hash = 1469598103934665603u;
  for (std::int64_t i = 0; i < dense.numel(); ++i) {
    char text[40];
    const int length = std::isnan(from[i]) ? std::snprintf(text, sizeof(text), "nan;")
                                           : std::snprintf(text, sizeof(text), "%a;", from[i]);
    for (int c = 0; c < length; ++c)
      hash = (hash ^ static_cast<unsigned char>(text[c])) * 1099511628211u;
  }
  std::string line = std::string(name) + " [";
  for (const std::int64_t size : tensor.sizes()) line += std::to_string(size) + " ";
  line += "] dtype " + std::to_string(static_cast<int>(tensor.scalar_type()));
  line += " version " + std::to_string(tensor._version());
  char text[40];
  std::snprintf(text, sizeof(text), " bits %016llx", static_cast<unsigned long long>(hash));
  print(line + text);
}

void print_state(const std::vector<Tensor>& parameters) {
  for (const Tensor& parameter : parameters) {
    print("parameter", parameter);
    print("gradient", parameter.grad());
    print(std::string(parameter.requires_grad() ? "trains" : "frozen") +
          (parameter.is_leaf() ? " leaf" : " result"));
  }
  print("random", groove::rand({2}));
}

bool add(Program program) {
  table().push_back(std::move(program));
  return true;
}

const std::vector<Program>& all() {
  std::sort(table().begin(), table().end(),
            [](const Program& a, const Program& b) { return a.name < b.name; });
  return table();
}

std::string scratch_file(const std::string& name) {
  static const std::string folder = [] {
    const std::filesystem::path path =
        std::filesystem::temp_directory_path() / ("groove-programs-" + std::to_string(getpid()));
    std::filesystem::create_directories(path);
    std::atexit([] {
      std::error_code ignored;
      std::filesystem::remove_all(
          std::filesystem::temp_directory_path() / ("groove-programs-" + std::to_string(getpid())),
          ignored);
    });
    return path.string();
  }();
  return folder + "/" + name;
}

MlpImpl::MlpImpl(std::int64_t inputs, std::int64_t hidden, std::int64_t outputs) {
  first = register_module("first", nn::Linear(inputs, hidden));
  second = register_module("second", nn::Linear(hidden, outputs));
}

Tensor MlpImpl::forward(const Tensor& x) { return second(groove::relu(first(x))); }

Tensor labels(std::int64_t step, std::int64_t count, std::int64_t classes) {
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back((step * 7 + i * 3) % classes);
  return groove::tensor(values);
}

std::int64_t Dice::below(std::int64_t n) {
  return static_cast<std::int64_t>(uniform() * static_cast<double>(n));
}

double Dice::uniform() {
  state_ = state_ * 6364136223846793005u + 1442695040888963407u;
  return static_cast<double>(state_ >> 11) * 0x1p-53;
}

}  // namespace groove::programs
