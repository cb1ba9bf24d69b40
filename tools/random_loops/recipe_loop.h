// The frame of a drawn training program: its optimizer, what stands around the plain step, and what
// it reads and writes down.
#pragma once

#include <limits>

#include "tools/random_loops/machine.h"
#include "tools/random_loops/recipe_parts.h"

namespace groove::random_loops {

struct Loop {
  Loop(const Recipe& recipe, int steps, std::FILE* log)
      : recipe(recipe), steps(steps), log(log), random(recipe.seed + 11) {}

  /// Begins a step; false when all are done.
  bool next();
  /// The first step of a share of the run: where phases change.
  bool is_at(double part) const { return step > 0 && step == static_cast<int>(part * steps); }
  std::int64_t rows();
  /// Is it time for what is done each `every` steps?
  bool is_time() const { return step % recipe.every == recipe.every - 1; }
  /// Throws now and then where the program retries: its own error, or one of the library's.
  void may_throw(const Tensor& x);
  void make_optimizer(std::vector<Tensor> trained, double rate);
  /// Gradients, clipping, the step, and what follows it.
  void update(const Tensor& loss);
  void read(const Tensor& loss);
  void caught(const std::exception& error);
  /// Values and gradients of what is trained.
  void finish();

  const Recipe recipe;
  const int steps;
  std::FILE* const log;
  Random random;
  int step = -1;
  bool is_first = true;  // of the program's threads that train
  std::int64_t errors = 0;
  std::vector<Tensor> parameters, averages, best_parameters;
  OptimizerPlace optimizer;
  double rate = 0.01, best = std::numeric_limits<double>::infinity();
  int bad = 0, micro_steps = 0;
  Tensor running;

 private:
  void step_by_hand();
};

// Each trains to the end of the loop's steps.
void train_supervised(Loop& loop);
void train_pair(Loop& loop);
void train_autoencoder(Loop& loop);
void train_sequences(Loop& loop);
void train_text(Loop& loop);
void train_q_values(Loop& loop);
void train_episodes(Loop& loop);
void train_solver(Loop& loop);
void train_experts(Loop& loop);
void compute_numbers(Loop& loop);
void train_derivatives(Loop& loop);
void train_words(Loop& loop);

}  // namespace groove::random_loops
