#include "groove/optim/scheduler_lists.h"

#include <algorithm>

#include "groove/serialize.h"
#include "src/core/check.h"

namespace groove::optim {

Optimizer& SchedulerList::optimizer_of(const char* name, const Schedulers& schedulers) {
  GROOVE_CHECK(!schedulers.empty() && schedulers.front(), "{}: there is no scheduler", name);
  return schedulers.front()->optimizer();
}

SchedulerList::SchedulerList(const char* name, Optimizer& optimizer, Schedulers schedulers)
    : LRScheduler(optimizer), schedulers_(std::move(schedulers)) {
  optimizer_of(name, schedulers_);
  for (std::size_t i = 0; i < schedulers_.size(); ++i) {
    GROOVE_CHECK(schedulers_[i], "{}: scheduler {} is empty", name, i);
    GROOVE_CHECK(&schedulers_[i]->optimizer() == &optimizer,
                 "{}: scheduler {} is one of another optimizer", name, i);
  }
}

std::vector<double> SchedulerList::get_lrs() { return get_current_lrs(); }
void SchedulerList::restart() {
  set_lrs(base_lrs());
  start();
}

void SchedulerList::save(serialize::OutputArchive& archive) const {
  LRScheduler::save(archive);
  serialize::OutputArchive all;
  for (std::size_t i = 0; i < schedulers_.size(); ++i) {
    serialize::OutputArchive one;
    schedulers_[i]->save(one);
    all.write(std::to_string(i), one);
  }
  archive.write("schedulers", all);
}
void SchedulerList::read(serialize::InputArchive& archive, bool keeps) {
  LRScheduler::read(archive, keeps);
  serialize::InputArchive all;
  archive.read("schedulers", all);
  const std::size_t count = all.keys().size();
  GROOVE_CHECK(count == schedulers_.size(), "load: the archive has {} schedulers, not {}", count,
               schedulers_.size());
  for (std::size_t i = 0; i < count; ++i) {
    serialize::InputArchive one;
    all.read(std::to_string(i), one);
    schedulers_[i]->read(one, keeps);
  }
}

// ---- SequentialLR ----

SequentialLR::SequentialLR(Optimizer& optimizer,
                           std::vector<std::shared_ptr<LRScheduler>> schedulers,
                           std::vector<std::int64_t> milestones)
    : SchedulerList("SequentialLR", optimizer, std::move(schedulers)),
      milestones_(std::move(milestones)) {
  GROOVE_CHECK(milestones_.size() + 1 == schedulers_.size(),
               "SequentialLR: {} milestones for {} schedulers; there must be one fewer",
               milestones_.size(), schedulers_.size());
  GROOVE_CHECK(std::is_sorted(milestones_.begin(), milestones_.end()),
               "SequentialLR: the milestones are not in ascending order");
  set_lrs(base_lrs());
  start();
}

LRScheduler& SequentialLR::at(std::int64_t epoch) const {
  const auto next = std::upper_bound(milestones_.begin(), milestones_.end(), epoch);
  return *schedulers_[static_cast<std::size_t>(next - milestones_.begin())];
}

void SequentialLR::start() {
  step_count_ = 0;
  SchedulerList::start(at(0));
  note_lrs();
}

void SequentialLR::step() {
  const std::int64_t epoch = static_cast<std::int64_t>(step_count_) + 1;
  LRScheduler& scheduler = at(epoch);
  if (std::binary_search(milestones_.begin(), milestones_.end(), epoch))
    SchedulerList::restart(scheduler);
  else
    scheduler.step();
  ++step_count_;
  note_lrs();
}

// ---- ChainedScheduler ----

ChainedScheduler::ChainedScheduler(std::vector<std::shared_ptr<LRScheduler>> schedulers)
    : SchedulerList("ChainedScheduler", optimizer_of("ChainedScheduler", schedulers), schedulers) {}
ChainedScheduler::ChainedScheduler(std::vector<std::shared_ptr<LRScheduler>> schedulers,
                                   Optimizer& optimizer)
    : SchedulerList("ChainedScheduler", optimizer, std::move(schedulers)) {}

void ChainedScheduler::start() {
  step_count_ = 0;
  for (const auto& scheduler : schedulers_) SchedulerList::start(*scheduler);
  note_lrs();
}

void ChainedScheduler::step() {
  for (const auto& scheduler : schedulers_) scheduler->step();
  ++step_count_;
  note_lrs();
}

}  // namespace groove::optim
