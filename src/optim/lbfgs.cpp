#include "groove/optim/lbfgs.h"

#include <algorithm>
#include <cmath>

#include "groove/autograd.h"
#include "groove/ops/contractions.h"
#include "groove/ops/creation.h"
#include "groove/ops/math.h"
#include "groove/ops/reductions.h"
#include "groove/ops/views.h"
#include "src/core/check.h"
#include "src/optim/fields.h"
#include "src/optim/plan.h"

template class std::deque<groove::Tensor>;

namespace groove::optim {
namespace {

template <typename Self, typename Field>
void each_option(Self& options, Field field) {
  field("lr", options.lr());
  field("max_iter", options.max_iter());
  field("max_eval", options.max_eval());
  field("tolerance_grad", options.tolerance_grad());
  field("tolerance_change", options.tolerance_change());
  field("history_size", options.history_size());
  field("line_search_fn", options.line_search_fn());
}

template <typename Self, typename Field>
void each_state_field(Self& state, Field field) {
  field("func_evals", state.func_evals());
  field("n_iter", state.n_iter());
  field("t", state.t());
  field("prev_loss", state.prev_loss());
  field("d", state.d());
  field("H_diag", state.H_diag());
  field("prev_flat_grad", state.prev_flat_grad());
  field("old_dirs", state.old_dirs());
  field("old_stps", state.old_stps());
  field("ro", state.ro());
}

void check(const LBFGSOptions& options) {
  detail::check_not_negative("LBFGS", "lr", options.lr());
  GROOVE_CHECK(options.max_iter() > 0 && options.history_size() > 0,
               "LBFGS: max_iter {} and history_size {} must be positive", options.max_iter(),
               options.history_size());
  GROOVE_CHECK(!options.line_search_fn() || *options.line_search_fn() == "strong_wolfe",
               "LBFGS: line_search_fn is '{}'; only 'strong_wolfe' is there",
               *options.line_search_fn());
}

double number(const Tensor& tensor) { return tensor.item<double>(); }
double greatest(const Tensor& tensor) { return number(max(abs(tensor))); }

// Where the cubic through two points with these slopes is least, between the bounds.
double cubic_minimum(double x1, double f1, double g1, double x2, double f2, double g2, double low,
                     double high) {
  const double d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2);
  const double square = d1 * d1 - g1 * g2;
  if (!(square >= 0)) return (low + high) / 2;
  const double d2 = std::sqrt(square);
  const double at = x1 <= x2 ? x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2))
                             : x1 - (x1 - x2) * ((g1 + d2 - d1) / (g1 - g2 + 2 * d2));
  return std::min(std::max(at, low), high);
}

}  // namespace

LBFGSOptions::LBFGSOptions(double lr) : lr_(lr) {}
double LBFGSOptions::get_lr() const { return lr_; }
void LBFGSOptions::set_lr(double lr) { lr_ = lr; }
void LBFGSOptions::inherit(const OptimizerOptions& defaults) {
  detail::inherit_fields(*this, LBFGSOptions(), static_cast<const LBFGSOptions&>(defaults),
                         [](auto& options, auto field) { each_option(options, field); });
}
bool operator==(const LBFGSOptions& a, const LBFGSOptions& b) {
  return detail::same_fields(a, b, [](auto& options, auto field) { each_option(options, field); });
}
bool operator==(const LBFGSParamState& a, const LBFGSParamState& b) {
  return detail::same_fields(a, b, [](auto& state, auto field) { each_state_field(state, field); });
}
void LBFGSOptions::serialize(serialize::OutputArchive& archive) const {
  each_option(*this, detail::Writer{archive});
}
void LBFGSOptions::serialize(serialize::InputArchive& archive) {
  each_option(*this, detail::Reader{archive});
}
void LBFGSParamState::serialize(serialize::OutputArchive& archive) const {
  each_state_field(*this, detail::Writer{archive});
}
void LBFGSParamState::serialize(serialize::InputArchive& archive) {
  each_state_field(*this, detail::Reader{archive});
}

LBFGS::LBFGS(std::vector<Tensor> params, LBFGSOptions defaults)
    : LBFGS(std::vector<OptimizerParamGroup>{OptimizerParamGroup(std::move(params))},
            std::move(defaults)) {}

LBFGS::LBFGS(std::vector<OptimizerParamGroup> param_groups, LBFGSOptions defaults)
    : Optimizer(std::move(param_groups), std::make_unique<LBFGSOptions>(defaults)) {
  GROOVE_CHECK(param_groups_.size() == 1,
               "LBFGS: there are {} parameter groups; LBFGS doesn't support per-parameter options",
               param_groups_.size());
  check(static_cast<const LBFGSOptions&>(param_groups_[0].options()));
}

std::unique_ptr<OptimizerParamState> LBFGS::new_state() const {
  return std::make_unique<LBFGSParamState>();
}
void LBFGS::check_options(const OptimizerOptions& options) const {
  check(static_cast<const LBFGSOptions&>(options));
}

Tensor LBFGS::flat_gradient() const {
  std::vector<Tensor> all;
  for (const Tensor& param : parameters())
    all.push_back(param.grad().defined() ? reshape(param.grad(), {-1})
                                         : zeros({param.numel()}, param.options()));
  return cat(all, 0);
}

void LBFGS::move(double length, const Tensor& direction) const {
  std::int64_t at = 0;
  for (const Tensor& param : parameters()) {
    param.add_(narrow(direction, 0, at, param.numel()).view(param.sizes()), length);
    at += param.numel();
  }
}

LBFGS::Point LBFGS::evaluate(const LossClosure& closure, const std::vector<Tensor>& start,
                             double length, const Tensor& direction) const {
  move(length, direction);
  double loss = 0;
  {
    const AutoGradMode grad(true);
    loss = number(closure());
  }
  const Tensor gradient = flat_gradient();
  for (std::size_t i = 0; i < start.size(); ++i) parameters()[i].copy_(start[i]);
  return {loss, gradient};
}

// First a bracket around a point where the strong Wolfe conditions hold, then that point.
std::tuple<LBFGS::Point, double, std::int64_t> LBFGS::search_line(const LossClosure& closure,
                                                                  double t, const Tensor& direction,
                                                                  const Point& start, double slope,
                                                                  std::int64_t most) const {
  constexpr double kDecrease = 1e-4, kCurvature = 0.9;
  const double tolerance =
      static_cast<const LBFGSOptions&>(param_groups_[0].options()).tolerance_change();
  std::vector<Tensor> params;
  for (const Tensor& param : parameters()) params.push_back(param.clone());
  struct Trial {
    double t;
    Point point;
    double slope;
  };
  const auto try_at = [&](double length) {
    Point point = evaluate(closure, params, length, direction);
    const double along = number(dot(point.gradient, direction));
    return Trial{length, std::move(point), along};
  };
  const auto decreases = [&](const Trial& trial) {
    return trial.point.loss <= start.loss + kDecrease * trial.t * slope;
  };
  const double longest = greatest(direction);
  Trial now = try_at(t), before{0, start, slope};
  std::int64_t calls = 1, tries = 0;
  std::vector<Trial> bracket;
  bool is_done = false;
  for (; tries < most; ++tries) {
    if (!decreases(now) || (tries > 1 && now.point.loss >= before.point.loss)) {
      bracket = {before, now};
      break;
    }
    if (std::abs(now.slope) <= -kCurvature * slope) {
      bracket = {now};
      is_done = true;
      break;
    }
    if (now.slope >= 0) {
      bracket = {before, now};
      break;
    }
    const double next =
        cubic_minimum(before.t, before.point.loss, before.slope, now.t, now.point.loss, now.slope,
                      now.t + 0.01 * (now.t - before.t), now.t * 10);
    before = std::move(now);
    now = try_at(next);
    ++calls;
  }
  if (tries == most) bracket = {Trial{0, start, slope}, now};

  std::size_t low = 0, high = 1;
  const auto order = [&] {
    low = bracket.front().point.loss <= bracket.back().point.loss ? 0 : 1;
    high = 1 - low;
  };
  order();
  if (bracket.size() == 1) low = high = 0;
  for (bool was_slow = false; !is_done && tries < most; ++tries) {
    const Trial &a = bracket[0], &b = bracket[1];
    if (std::abs(b.t - a.t) * longest < tolerance) break;
    const double least = std::min(a.t, b.t), most_t = std::max(a.t, b.t);
    double next =
        cubic_minimum(a.t, a.point.loss, a.slope, b.t, b.point.loss, b.slope, least, most_t);
    // So near to an end twice, or at it: a tenth of the bracket away from it.
    const double margin = 0.1 * (most_t - least);
    if (std::min(most_t - next, next - least) < margin) {
      if (was_slow || next >= most_t || next <= least) {
        next = std::abs(next - most_t) < std::abs(next - least) ? most_t - margin : least + margin;
        was_slow = false;
      } else {
        was_slow = true;
      }
    } else {
      was_slow = false;
    }
    Trial trial = try_at(next);
    ++calls;
    if (!decreases(trial) || trial.point.loss >= bracket[low].point.loss) {
      bracket[high] = std::move(trial);
      order();
    } else {
      if (std::abs(trial.slope) <= -kCurvature * slope)
        is_done = true;
      else if (trial.slope * (bracket[high].t - bracket[low].t) >= 0)
        bracket[high] = bracket[low];
      bracket[low] = std::move(trial);
    }
  }
  return {bracket[low].point, bracket[low].t, calls};
}

Tensor LBFGS::step(LossClosure closure) {
  GROOVE_CHECK(closure, "LBFGS: step() needs a closure that computes the loss again");
  const NoGradGuard no_grad;
  const auto loss_of = [&] {
    const AutoGradMode grad(true);
    return closure();
  };
  const auto& options = static_cast<const LBFGSOptions&>(param_groups_[0].options());
  const Tensor first_loss = loss_of();
  if (parameters().empty()) return first_loss;
  const std::int64_t most_calls = options.max_eval().value_or(options.max_iter() * 5 / 4);
  std::unique_ptr<OptimizerParamState>& slot = state()[parameters()[0].unsafeGetTensorImpl()];
  if (!slot) slot = std::make_unique<LBFGSParamState>();
  auto& known = static_cast<LBFGSParamState&>(*slot);

  double loss = number(first_loss);
  std::int64_t calls = 1;
  ++known.func_evals();
  Tensor gradient = flat_gradient();
  if (greatest(gradient) <= options.tolerance_grad()) return first_loss;
  for (std::int64_t iteration = 1; iteration <= options.max_iter(); ++iteration) {
    if (++known.n_iter() == 1) {
      known.d(neg(gradient));
      known.H_diag(ones({}, gradient.options()));
    } else {
      const Tensor change = gradient - known.prev_flat_grad(), moved = known.d() * known.t();
      const Tensor along = dot(change, moved);
      if (number(along) > 1e-10) {
        if (static_cast<std::int64_t>(known.old_dirs().size()) == options.history_size()) {
          known.old_dirs().pop_front();
          known.old_stps().pop_front();
          known.ro().pop_front();
        }
        known.old_dirs().push_back(change);
        known.old_stps().push_back(moved);
        known.ro().push_back(reciprocal(along));
        known.H_diag(along / dot(change, change));
      }
      // The approximate inverse Hessian times the gradient, by two loops over the history.
      const std::size_t count = known.old_dirs().size();
      std::vector<Tensor> factors(count);
      Tensor q = neg(gradient);
      for (std::size_t i = count; i-- > 0;) {
        factors[i] = dot(known.old_stps()[i], q) * known.ro()[i];
        q = q - known.old_dirs()[i] * factors[i];
      }
      Tensor r = q * known.H_diag();
      for (std::size_t i = 0; i < count; ++i)
        r = r + known.old_stps()[i] * (factors[i] - dot(known.old_dirs()[i], r) * known.ro()[i]);
      known.d(r);
    }
    known.prev_flat_grad(gradient);
    known.prev_loss(loss);
    known.t(known.n_iter() == 1 ? std::min(1.0, 1 / number(sum(abs(gradient)))) * options.lr()
                                : options.lr());
    const double slope = number(dot(gradient, known.d()));
    if (slope > -options.tolerance_change()) break;
    bool is_optimal = false;
    std::int64_t new_calls = 0;
    if (options.line_search_fn()) {
      auto [point, length, used] =
          search_line(closure, known.t(), known.d(), {loss, gradient}, slope, 25);
      loss = point.loss;
      gradient = point.gradient;
      known.t(length);
      new_calls = used;
      move(known.t(), known.d());
      is_optimal = greatest(gradient) <= options.tolerance_grad();
    } else {
      move(known.t(), known.d());
      if (iteration != options.max_iter()) {
        loss = number(loss_of());
        gradient = flat_gradient();
        is_optimal = greatest(gradient) <= options.tolerance_grad();
        new_calls = 1;
      }
    }
    calls += new_calls;
    known.func_evals() += new_calls;
    if (iteration == options.max_iter() || calls >= most_calls || is_optimal) break;
    if (greatest(known.d() * known.t()) <= options.tolerance_change()) break;
    if (std::abs(loss - known.prev_loss()) < options.tolerance_change()) break;
  }
  return first_loss;
}

}  // namespace groove::optim
