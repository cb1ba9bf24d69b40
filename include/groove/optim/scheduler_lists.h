// Schedulers one after the other, and several at once.
#pragma once

#include <memory>

#include "groove/optim/lr_scheduler.h"

namespace groove::optim {

/// The base of schedulers made of others of the same optimizer.
class SchedulerList : public LRScheduler {
 public:
  void save(serialize::OutputArchive& archive) const override;

 protected:
  using Schedulers = std::vector<std::shared_ptr<LRScheduler>>;
  /// Throws groove::Error where one is missing or of another optimizer.
  SchedulerList(const char* name, Optimizer& optimizer, Schedulers schedulers);
  static Optimizer& optimizer_of(const char* name, const Schedulers& schedulers);
  std::vector<double> get_lrs() override;
  void restart() override;
  void read(serialize::InputArchive& archive, bool keeps) override;
  static void start(LRScheduler& scheduler) { scheduler.start(); }
  static void restart(LRScheduler& scheduler) { scheduler.restart(); }
  using LRScheduler::start;
  Schedulers schedulers_;
};

/// Each scheduler until its milestone, an epoch of all; the next one begins there from its base
/// rates. What the schedulers' constructors did to the rates is undone.
class SequentialLR : public SchedulerList {
 public:
  SequentialLR(Optimizer& optimizer, std::vector<std::shared_ptr<LRScheduler>> schedulers,
               std::vector<std::int64_t> milestones);
  void step() override;

 private:
  void start() override;
  LRScheduler& at(std::int64_t epoch) const;
  std::vector<std::int64_t> milestones_;
};

/// All schedulers in every step, in their order.
class ChainedScheduler : public SchedulerList {
 public:
  explicit ChainedScheduler(std::vector<std::shared_ptr<LRScheduler>> schedulers);
  ChainedScheduler(std::vector<std::shared_ptr<LRScheduler>> schedulers, Optimizer& optimizer);
  void step() override;

 private:
  void start() override;
};

}  // namespace groove::optim
