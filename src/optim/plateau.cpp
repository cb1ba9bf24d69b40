#include "groove/optim/plateau.h"

#include <algorithm>

#include "src/core/check.h"
#include "src/optim/fields.h"

namespace groove::optim {
namespace {

bool is_second(const char* option, const std::string& value, const char* first,
               const char* second) {
  GROOVE_CHECK(value == first || value == second,
               "ReduceLROnPlateau: {} is '{}'; it must be '{}' or '{}'", option, value, first,
               second);
  return value == second;
}

}  // namespace

ReduceLROnPlateau::ReduceLROnPlateau(Optimizer& optimizer, const std::string& mode, double factor,
                                     std::int64_t patience, double threshold,
                                     const std::string& threshold_mode, std::int64_t cooldown,
                                     PerGroup min_lr, double eps)
    : optimizer_(optimizer),
      is_max_(is_second("mode", mode, "min", "max")),
      is_absolute_(is_second("threshold_mode", threshold_mode, "rel", "abs")),
      factor_(factor),
      threshold_(threshold),
      eps_(eps),
      patience_(patience),
      cooldown_(cooldown),
      min_lr_(std::move(min_lr)),
      best_((is_max_ ? -1 : 1) * std::numeric_limits<double>::infinity()) {
  GROOVE_CHECK(factor < 1, "ReduceLROnPlateau: factor is {}; it must be below 1", factor);
  min_lr_.expanded("ReduceLROnPlateau: min_lr", optimizer);
  note_lrs();
}

bool ReduceLROnPlateau::is_better(double metric) const {
  if (is_absolute_) return is_max_ ? metric > best_ + threshold_ : metric < best_ - threshold_;
  return is_max_ ? metric > best_ * (threshold_ + 1) : metric < best_ * (1 - threshold_);
}

void ReduceLROnPlateau::step(double metrics) {
  const bool is_best = is_better(metrics);
  std::int64_t bad = is_best ? 0 : num_bad_epochs_ + 1;
  if (cooldown_counter_ > 0) bad = 0;
  const bool reduces = bad > patience_;
  if (reduces) reduce();

  ++last_epoch_;
  if (is_best) best_ = metrics;
  if (cooldown_counter_ > 0) --cooldown_counter_;
  if (reduces) cooldown_counter_ = cooldown_;
  num_bad_epochs_ = reduces ? 0 : bad;
  note_lrs();
}

void ReduceLROnPlateau::reduce() {
  const std::vector<double> least = min_lr_.expanded("ReduceLROnPlateau: min_lr", optimizer_);
  for (std::size_t i = 0; i < least.size(); ++i) {
    OptimizerOptions& options = optimizer_.param_groups()[i].options();
    const double rate = std::max(options.get_lr() * factor_, least[i]);
    if (options.get_lr() - rate > eps_) options.set_lr(rate);
  }
}

void ReduceLROnPlateau::note_lrs() {
  last_lrs_.clear();
  for (const OptimizerParamGroup& group : optimizer_.param_groups())
    last_lrs_.push_back(group.options().get_lr());
}

void ReduceLROnPlateau::save(serialize::OutputArchive& archive) const {
  const detail::Writer write{archive};
  write("best", IValue(best_));
  write("last_epoch", IValue(last_epoch_));
  write("cooldown_counter", IValue(cooldown_counter_));
  write("num_bad_epochs", IValue(num_bad_epochs_));
  write("last_lr", last_lrs_);
}
void ReduceLROnPlateau::load(serialize::InputArchive& archive) {
  double best = 0;
  std::int64_t last_epoch = 0, cooldown = 0, bad = 0;
  std::vector<double> last;
  const detail::Reader read{archive};
  read("best", best);
  read("last_epoch", last_epoch);
  read("cooldown_counter", cooldown);
  read("num_bad_epochs", bad);
  read("last_lr", last);
  GROOVE_CHECK(last_epoch >= 0 && cooldown >= 0 && bad >= 0 &&
                   last.size() == optimizer_.param_groups().size(),
               "load: the archive of ReduceLROnPlateau has epoch {}, counters {} and {}, and {} "
               "rates for {} groups",
               last_epoch, cooldown, bad, last.size(), optimizer_.param_groups().size());
  best_ = best;
  last_epoch_ = last_epoch;
  cooldown_counter_ = cooldown;
  num_bad_epochs_ = bad;
  last_lrs_ = std::move(last);
}

serialize::OutputArchive& operator<<(serialize::OutputArchive& archive,
                                     const ReduceLROnPlateau& scheduler) {
  scheduler.save(archive);
  return archive;
}
serialize::InputArchive& operator>>(serialize::InputArchive& archive,
                                    ReduceLROnPlateau& scheduler) {
  scheduler.load(archive);
  return archive;
}

}  // namespace groove::optim
