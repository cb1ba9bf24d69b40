// Whole programs in LibTorch style, each a situation that breaks naive tracers. What a program
// prints and the state it ends in must be the same bytes however it is run; run.cpp compares.
#pragma once

#include <groove/groove.h>

#include <string>
#include <vector>

namespace groove::programs {

/// Standard output in program order, numbers as their bits.
void print(const std::string& line);
void print(const char* name, double value);
/// Sizes, dtype, version and elements, as a hash.
void print(const char* name, const Tensor& tensor);
/// Values, gradients and flags of parameters, and what the random generator gives next.
void print_state(const std::vector<Tensor>& parameters);
/// Warm-up is over: from here to the end the share of compiled work is measured.
void steady();

struct Program {
  std::string name;
  void (*run)();
  int least_share = 90;  // percent of the steady work that has to run compiled …
  std::string why = "";  // … and why it is less
};
/// Registers a program; gives true.
bool add(Program program);
const std::vector<Program>& all();  // by name

/// The name of a file for this program alone in this process's own folder.
std::string scratch_file(const std::string& name);

// ---- what several programs need ----

/// Two linear layers with a relu between them.
struct MlpImpl : nn::Module {
  MlpImpl(std::int64_t inputs, std::int64_t hidden, std::int64_t outputs);
  Tensor forward(const Tensor& x);
  nn::Linear first{nullptr}, second{nullptr};
};
GROOVE_MODULE(Mlp);

/// Class indices that follow from the step.
Tensor labels(std::int64_t step, std::int64_t count, std::int64_t classes);

// Host randomness, the same on every machine; the library's generator is not touched.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed * 2 + 1) {}
  std::int64_t below(std::int64_t n);
  double uniform();  // [0, 1)

 private:
  std::uint64_t state_;
};

}  // namespace groove::programs
