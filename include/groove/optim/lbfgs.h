// L-BFGS (Liu and Nocedal 1989), with a fixed step or a line search for the strong Wolfe
// conditions, as LibTorch defines it.
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "groove/optim/optimizer.h"

extern template class std::deque<groove::Tensor>;  // compiled in lbfgs.cpp, not in each program

namespace groove::optim {

struct LBFGSOptions : OptimizerCloneableOptions<LBFGSOptions> {
  LBFGSOptions(double lr = 1);
  double get_lr() const override;
  void set_lr(double lr) override;
  void inherit(const OptimizerOptions& defaults) override;
  void serialize(serialize::OutputArchive& archive) const override;
  void serialize(serialize::InputArchive& archive) override;
  GROOVE_ARG(double, lr);
  /// Iterations of a step.
  GROOVE_ARG(std::int64_t, max_iter) = 20;
  /// Calls of the closure in a step; 1.25 max_iter unless given.
  GROOVE_ARG(std::optional<std::int64_t>, max_eval) = std::nullopt;
  GROOVE_ARG(double, tolerance_grad) = 1e-7;
  GROOVE_ARG(double, tolerance_change) = 1e-9;
  GROOVE_ARG(std::int64_t, history_size) = 100;
  /// "strong_wolfe", or none.
  GROOVE_ARG(std::optional<std::string>, line_search_fn) = std::nullopt;

 public:
  friend bool operator==(const LBFGSOptions& a, const LBFGSOptions& b);
};

/// One for all parameters, kept under the first.
struct LBFGSParamState : OptimizerCloneableParamState<LBFGSParamState> {
  void serialize(serialize::OutputArchive& archive) const override;
  void serialize(serialize::InputArchive& archive) override;
  GROOVE_ARG(std::int64_t, func_evals) = 0;
  GROOVE_ARG(std::int64_t, n_iter) = 0;
  GROOVE_ARG(double, t) = 0;
  GROOVE_ARG(double, prev_loss) = 0;
  GROOVE_ARG(Tensor, d) = {};
  GROOVE_ARG(Tensor, H_diag) = {};
  GROOVE_ARG(Tensor, prev_flat_grad) = {};
  GROOVE_ARG(std::deque<Tensor>, old_dirs) = {};
  GROOVE_ARG(std::deque<Tensor>, old_stps) = {};
  GROOVE_ARG(std::deque<Tensor>, ro) = {};

 public:
  friend bool operator==(const LBFGSParamState& a, const LBFGSParamState& b);
};

/// Takes one parameter group. A step reads values on the way, so its parts are traced, not itself.
class LBFGS : public Optimizer {
 public:
  explicit LBFGS(std::vector<OptimizerParamGroup> param_groups, LBFGSOptions defaults = {});
  explicit LBFGS(std::vector<Tensor> params, LBFGSOptions defaults = {});
  /// Throws groove::Error without a closure.
  Tensor step(LossClosure closure) override;

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override;
  void check_options(const OptimizerOptions& options) const override;

 private:
  struct Point {
    double loss;
    Tensor gradient;
  };
  Tensor flat_gradient() const;
  void move(double length, const Tensor& direction) const;
  Point evaluate(const LossClosure& closure, const std::vector<Tensor>& start, double length,
                 const Tensor& direction) const;
  std::tuple<Point, double, std::int64_t> search_line(const LossClosure& closure, double length,
                                                      const Tensor& direction, const Point& start,
                                                      double slope, std::int64_t most) const;
};

}  // namespace groove::optim
