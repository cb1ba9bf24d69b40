// A context's telling: what came where a segment expected another call, what leaving cost, and the
// error of strict mode, which is thrown when everything has been done as in eager mode.
#include <algorithm>

#include "src/core/check.h"
#include "tracer/cache/registry.h"
#include "tracer/tell/inspect.h"
#include "tracer/tell/report.h"
#include "tracer/thread/context.h"
#include "tracer/thread/modes.h"
#include "tracer/watch/speculation_feedback.h"

namespace groove::tracer {
namespace {

std::string with_advice(Reason reason) {
  const std::string how = advice(reason);
  return text(reason) + (how.empty() ? "" : "; " + how);
}

constexpr std::size_t kMostUncompiled = 4096;
constexpr std::uint64_t kLot = 16;  // iterations

bool is_strict_about(Reason reason) {
  return reason != Reason::kCompleted && reason != Reason::kModeChange &&
         reason != Reason::kException;
}

bool is_any_in_use() {
  const std::vector<SegmentPtr> all = all_segments();
  return std::any_of(all.begin(), all.end(), [](const SegmentPtr& segment) {
    return segment->is_armed() && segment->statistics.hits > 0;
  });
}

}  // namespace

void Context::on_eager_region() {
  if (busy_ > 0 || is_expanding_) return;
  const Lock lock(*this);
  if (state_ == State::kReplaying && replay_->is_complete()) {
    commit_complete(0);
  } else if (state_ == State::kReplaying && !go_over_to_end()) {
    // When it comes again here, the calls up to here get a segment of their own.
    wanted_ = wants_side(SideExits::at(replay_->path_node(), 0), Reason::kModeChange);
    deoptimize(Reason::kModeChange, 0);
  }
  if (state_ == State::kRecording) end_recording();
  discovery_.on_host_read();
}

// The iteration may go on after the program has caught it, so nothing is left yet.
void Context::on_error() {
  // Not the lock when this thread runs what another owes: both might want it.
  if (busy_ > 0 || is_expanding_) {
    strict_error_.clear();
    return;
  }
  const Lock lock(*this);
  strict_error_.clear();
  if (state_ != State::kReplaying) return;
  error_at_ = replay_->matched();
}

std::int64_t Context::time_since_exit() {
  const std::int64_t now = nanoseconds_now();
  return now - std::exchange(noted_exit_, now);
}

Reason Context::note_exit(Reason reason, std::int64_t nanoseconds) {
  Segment& segment = *replay_->told_segment();
  const std::size_t matched = replay_->matched();
  if (error_at_ == matched && came_.op) reason = Reason::kException;
  lost_at_exit_ = segment.profile.note_exit(replay_->ran(), matched, segment.calls.size(), reason,
                                            came_, nanoseconds, time_since_exit());
  if (is_strict() && is_strict_about(reason)) {
    std::string seen;
    if (came_.op && matched < segment.calls.size()) {
      const auto [expected, came] = came_.input;
      seen = fmt::format(
          ": {} expected, got {}",
          with_input(describe(segment.calls[matched]), expected ? type_text(*expected) : ""),
          with_input(came_.text(), came ? type_text(*came) : ""));
    } else if (!came_.op && matched > 0) {
      seen = fmt::format(" after {}", describe(segment.calls[matched - 1]));
    }
    strict_error_ = fmt::format("strict mode: the compiled loop at {} was left{}: {}",
                                short_source(segment.source), seen, with_advice(reason));
  }
  came_ = {};
  error_at_.reset();
  return reason;
}

void Context::note_not_compiled(std::uint64_t head, Reason reason) {
  const std::string source = recorder_->source();
  // What it would have saved, as far as it came; recorded it took longer than it takes.
  const double lost =
      std::min(recorder_->milliseconds(), SegmentProfile::expected_gain(recorder_->calls()) * 1e-6);
  count_failure(source, reason, recorder_->last_call(), lost);
  if (uncompiled_.size() >= kMostUncompiled) forget_uncompiled();
  Uncompiled& known = uncompiled_[head];
  known.source = source;
  known.reason = reason;
  uncompiled_filter_ |= 1ull << (head & 63);
  note_uncompiled(known);
}

void Context::forget_uncompiled() {
  uncompiled_.clear();
  uncompiled_filter_ = 0;
}

// One more iteration of a loop that could not be compiled. Counted in lots, to cost little.
void Context::note_uncompiled(Uncompiled& loop) {
  if (++loop.iterations % kLot == 0) count_eager_iterations(loop.source, loop.reason, kLot);
  if (is_strict() && is_strict_about(loop.reason) && is_any_in_use())
    strict_error_ = fmt::format("strict mode: the stretch of the loop at {} is not compiled: {}",
                                short_source(loop.source), with_advice(loop.reason));
}

void Context::throw_strict_error(std::uint64_t eager_call) {
  if (uncompiled_filter_ >> (eager_call & 63) & 1 && state_ == State::kWatching) [[unlikely]] {
    const auto found = uncompiled_.find(eager_call);
    if (found != uncompiled_.end() && strict_error_.empty()) note_uncompiled(found->second);
  }
  if (strict_error_.empty() || !is_strict()) return;
  const std::string message = std::move(strict_error_);
  strict_error_.clear();
  throw_error(message);
}

}  // namespace groove::tracer
