// A context among others: its lock, what another thread may do to it, and how its thread ends.
#include "src/core/faults.h"
#include "tracer/calls/tape_hooks.h"
#include "tracer/thread/context.h"
#include "tracer/thread/modes.h"
#include "tracer/watch/speculation_feedback.h"

namespace groove::tracer {
namespace {

// A value that another thread keeps writing in place is not waited for again and again.
constexpr int kMostTries = 3;

}  // namespace

template <typename AnyCall>
Context::Matched Context::match_next(const AnyCall& call, const SiteKey& site, Tensor* outputs) {
  for (int tries = 0;; ++tries) {
    detail::RefPtr<TensorImpl> foreign;
    {
      const Lock lock(*this);
      if (state_ != State::kReplaying) return Matched::kNo;  // another thread has ended it
      Reason why = Reason::kForced;
      auto other = Replay::OtherOperand::kNone;
      bool has_matched = !is_forced_out() && try_match(call, site, outputs, why);
      if (!has_matched && state_ == State::kReplaying) {
        wanted_ = Wanted::kNothing;
        if (why == Reason::kMismatchOperand &&
            operands_of(line_of(*call.op, site)) != Operands::kWritten)
          other = replay_->other_operand(call);
        if (other != Replay::OtherOperand::kNone) why = Reason::kAnyOperand;
        foreign = replay_->take_foreign();
        has_matched =
            !foreign && (follow_sizes(call, site, outputs, why) ||
                         (state_ == State::kReplaying && go_over(call, site, outputs, why)));
      }
      if (has_matched && replay_->must_commit_now() && !ends_step_now(call)) commit_complete(0);
      if (has_matched && state_ != State::kReplaying) return Matched::kYes;
      if (has_matched)
        return ends_step_now(call) && !commit_complete(1) ? Matched::kLeftLast : Matched::kYes;
      if (state_ != State::kReplaying) return Matched::kNo;
      if (!foreign || tries == kMostTries) {
        note_came(*call.op, call.site);
        if (why == Reason::kLiveInType) came_.input = replay_->unlike_input();
        if (other != Replay::OtherOperand::kNone)
          note_other_operand(line_of(*call.op, site), other == Replay::OtherOperand::kMade);
        end_run(why);
        return Matched::kNo;
      }
    }
    settle(*foreign);
    settle_gradient(*foreign);
    before_write(*foreign->storage);
  }
}

template Context::Matched Context::match_next(const Call&, const SiteKey&, Tensor*);
template Context::Matched Context::match_next(const LibraryCall&, const SiteKey&, Tensor*);

bool Context::must_run_last(const LibraryCall& call) {
  const Lock lock(*this);
  return state_ == State::kReplaying && ends_step_now(call) && !commit_complete(1);
}

// ---- seen from another thread ----

// What is committed on another thread takes places on the tape of the thread that owes it.
class Context::TapeOfOwner {
 public:
  explicit TapeOfOwner(Context& owner) : owner_(owner) {
    if (!tape_hooks().sequence) return;
    own_ = tape_hooks().sequence();
    tape_hooks().set_sequence(owner_.sequence_);
    own_tape_ = tape_hooks().tape();
    tape_hooks().set_tape(owner_.tape_);
    owner_.is_tape_outside_ = true;
  }
  ~TapeOfOwner() {
    if (!tape_hooks().sequence) return;
    owner_.sequence_ = tape_hooks().sequence();
    tape_hooks().set_sequence(own_);
    tape_hooks().set_tape(own_tape_);
  }
  TapeOfOwner(const TapeOfOwner&) = delete;
  TapeOfOwner& operator=(const TapeOfOwner&) = delete;

 private:
  Context& owner_;
  std::uint64_t own_ = 0;
  std::uint32_t own_tape_ = 0;
};

// The flag is set before the state changes, so the owner never goes on before this is over.
void Context::take_back_tape() {
  const Lock lock(*this);
  if (tape_hooks().set_sequence) tape_hooks().set_sequence(sequence_);
  is_tape_outside_ = false;
}

void Context::settle_down() {
  if (state_ == State::kReplaying) flush(Reason::kModeChange);
  if (is_tape_outside_) take_back_tape();
}

void Context::on_touch_from_outside(TensorImpl& impl) {
  const Lock lock(*this);
  if (state_ != State::kReplaying || owing_session(impl) == 0 || replay_->is_being_left()) return;
  if (!replay_->is_complete()) {
    const TapeOfOwner tape(*this);
    const Busy busy(busy_);
    if (impl.is_pending && impl.trace_session == replay_->session() && replay_->run_stage_for(impl))
      return;
  }
  settle_run_from_outside();
}

void Context::on_write_from_outside(Storage& storage) {
  const Lock lock(*this);
  if (state_ != State::kReplaying || replay_->is_being_left() || !replay_->reads(storage)) {
    // From now on a run that binds it says so anew.
    if (!shares_reader_bit()) storage.readers.clear_bits(reader_bit(index_));
    return;
  }
  settle_run_from_outside();
}

// The program has it, so that no run hands it out again before it is the run's alone.
void Context::on_use_from_outside(TensorImpl& impl) {
  const Lock lock(*this);
  if (state_ == State::kReplaying && replay_->makes(impl)) {
    if (replay_->is_being_left()) return;
    settle_run_from_outside();
  }
  if (making_session(impl) != 0) forget_session(impl);
}

// What the run has done to it is not taken back any more.
void Context::on_gradient_from_outside(TensorImpl& leaf) {
  const Lock lock(*this);
  const std::uint64_t session = leaf.autograd ? leaf.autograd->changed_by.get() : 0;
  if (session == 0 || !have_one_owner(session, index_)) return;
  if (state_ == State::kReplaying && replay_->has_changed(leaf)) {
    if (replay_->is_being_left()) return;
    settle_run_from_outside();
  }
  // A result that is no leaf any more may have lost what it had.
  if (leaf.autograd) end_changes(leaf, session);
}

void Context::on_read_from_outside(Storage& storage) {
  const Lock lock(*this);
  if (state_ == State::kReplaying && storage.flags & Storage::kOwed && !replay_->is_being_left())
    settle_run_from_outside();
}

void Context::settle_run_from_outside() {
  const TapeOfOwner tape(*this);
  const Busy busy(busy_);  // this thread's own context does not see what runs here
  wanted_ = Wanted::kNothing;
  started_ = -1;  // by the owner's clock
  if (replay_->is_complete())
    commit_complete(0);
  else
    deoptimize(Reason::kThread, 0);
}

// ---- the end ----

void Context::end() noexcept {
  if (is_running()) return;  // exit() was called from inside a commit
  try {
    flush(Reason::kCompleted);
  } catch (...) {
    // A commit from a destructor never throws; what is still pending stays pending.
  }
}

void Context::give_up_run() {
  if (state_ == State::kRecording) {
    recorder_->fail(Reason::kException);
    abandon_recording();
  }
  if (replay_) replay_->poison();
  replay_ = nullptr;
  close_run();
  move_to(State::kWatching);
}

}  // namespace groove::tracer
