#include "tracer/discovery.h"

namespace groove::tracer {
namespace {

std::uint64_t combine(std::uint64_t h, std::uint64_t word) {
  h = (h ^ word) * 0x9e3779b97f4a7c15u;
  return h ^ h >> 31;
}

}  // namespace

int Discovery::needed(std::uint64_t head) const {
  const auto found = penalties_.find(head);
  const int failures = found == penalties_.end() ? 0 : found->second;
  return hot_ << (failures < 10 ? failures : 10);
}

const Discovery::Plan* Discovery::plan(std::uint64_t head) const {
  const auto found = plans_.find(head);
  return found == plans_.end() ? nullptr : &found->second;
}

void Discovery::forget_cycle() {
  if (cycle_head_) plans_.erase(*cycle_head_);
  cycle_head_.reset();
}

void Discovery::penalize(std::uint64_t head) {
  ++penalties_[head];
  plans_.erase(head);
  repeats_.clear();
}

void Discovery::note_stretch(std::size_t begin, Kind kind) {
  if (begin >= stream_.size()) return;
  std::uint64_t hash = static_cast<std::uint64_t>(kind);
  for (std::size_t i = begin; i < stream_.size(); ++i) hash = combine(hash, stream_[i]);
  const std::uint64_t head = stream_[begin];
  if (++repeats_[hash] >= needed(head))
    plans_[head] = Plan{head, hash, stream_.size() - begin, kind};
  if (repeats_.size() > 4096) repeats_.clear();
  if (plans_.size() > kMostPlans) plans_.clear();
}

void Discovery::on_word(std::uint64_t hash) {
  if (stream_.size() >= kLongest) {
    stream_.clear();
    last_at_.clear();
    last_read_ = 0;
  }
  stream_.push_back(hash);
  // Loops inside a step are the step's business once a step has been seen.
  if (has_seen_step_ && reads_since_step_ < 3) return;
  look_for_cycle();
  last_at_[hash] = stream_.size() - 1;
}

// A word that came before at distance p, with the p words before both the same, repeated: a loop
// without cuts.
void Discovery::look_for_cycle() {
  if (cycle_head_ && plans_.contains(*cycle_head_)) return;  // waiting for its head
  const std::size_t now = stream_.size() - 1;
  const auto found = last_at_.find(stream_[now]);
  if (found == last_at_.end() || found->second < last_read_) return;
  const std::size_t period = now - found->second;
  const auto repeats = static_cast<std::size_t>(needed(stream_[now]));
  if (now - last_read_ < period * (repeats + 1)) return;
  for (std::size_t i = 0; i < period * repeats; ++i)
    if (stream_[now - 1 - i] != stream_[now - 1 - i - period]) return;
  cycle_head_ = stream_[now];
  plans_[*cycle_head_] = Plan{*cycle_head_, 0, period, Kind::kCycle};
}

void Discovery::on_step_end() {
  note_stretch(0, Kind::kStep);
  has_seen_step_ = true;
  reads_since_step_ = 0;
  clear_stream();
}

void Discovery::on_host_read() {
  if (!has_seen_step_ || ++reads_since_step_ >= 3) note_stretch(last_read_, Kind::kHostRead);
  last_read_ = stream_.size();
}

void Discovery::on_segment(Kind kind) {
  if (kind == Kind::kStep) {
    has_seen_step_ = true;
    reads_since_step_ = 0;
  }
  clear_stream();
}

void Discovery::clear_stream() {
  forget_cycle();
  stream_.clear();
  last_at_.clear();
  last_read_ = 0;
}

void Discovery::clear() { *this = Discovery(); }

}  // namespace groove::tracer
