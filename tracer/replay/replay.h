// Replays an armed segment on one thread: compares calls with the expected calls, hands out
// pending tensors, runs the compiled stages when something must be known, and on a mismatch runs
// what has matched eagerly. Pending handles live on from iteration to iteration.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "src/core/faults.h"
#include "src/core/stand_in.h"
#include "tracer/calls/expected.h"
#include "tracer/calls/live_ins.h"
#include "tracer/calls/segment.h"
#include "tracer/calls/stretch.h"
#include "tracer/replay/bound_objects.h"
#include "tracer/replay/workspace.h"
#include "tracer/thread/modes.h"

namespace groove::tracer {

// Takes part when the calls of a run that is left run again.
class Rerun {
 public:
  virtual ~Rerun() = default;
  virtual void call(const Call& call, const SiteKey& site, Tensor* outputs) = 0;
  virtual void library_call(const LibraryCall& recorded, const SiteKey& site, void (*expand)(void*),
                            void* argument) = 0;
  // Inside the expansion of a library call.
  virtual void nested(const Call& call, Tensor* outputs) = 0;
  virtual void use_grad(TensorImpl& leaf) = 0;
  virtual void set_grad(TensorImpl& leaf, const Tensor& grad) = 0;
  /// The handle that the program holds has become this result.
  virtual void became(TensorImpl& result, TensorImpl& handle) = 0;
  /// The program looked at this between two calls.
  virtual void looked_at(TensorImpl& impl) = 0;
  virtual void call_is_over(const RecordedCall& recorded) = 0;
};

class Replay {
 public:
  /// `shows_results` is set before a result is real while the run goes on.
  Replay(SegmentPtr segment, std::uint64_t session, Workspace& workspace,
         std::atomic<bool>& shows_results);
  ~Replay();
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  Segment& segment() const { return *segment_; }
  const SegmentPtr& segment_pointer() const { return segment_; }
  /// The segment that reports and the registry know.
  const SegmentPtr& told_segment() const {
    return segment_->original ? segment_->original : segment_;
  }
  std::uint64_t session() const { return session_; }
  std::size_t matched() const { return matched_; }
  /// How many of the matched calls have run compiled: those up to the last host read.
  std::size_t ran() const;
  /// Nanoseconds of this run that went into making a program.
  std::int64_t preparing() const { return preparing_; }
  /// A raw pointer is about to be handed out: keeps what matched calls have read of this storage.
  /// False when that cannot be done.
  bool expose(const Storage& storage, Reason& why);
  /// May a write that this run owes give the tensor a history that it does not show?
  bool hides_history(const TensorImpl& impl) const;
  /// Is it a result of this run that gets its history at the end, behind the stage that made it?
  bool owes_history(const TensorImpl& impl) const;
  /// Has the program one reference of it, and nothing else in its memory (temporaries.cpp)?
  bool is_temporary(const TensorImpl& impl) const;
  /// Lets go of what nobody else has: the parameters and state of a model that is gone.
  void release_gone();
  /// Has it bound something in this storage?
  bool reads(const Storage& storage) const;
  /// Did a call of this run give it out?
  bool makes(const TensorImpl& impl) const;
  /// Has a call of this run changed the gradient or a flag of this leaf?
  bool has_changed(const TensorImpl& leaf) const;
  /// Is it a live-in of this run?
  bool is_bound(const TensorImpl& impl) const;
  /// Does the call that comes differ in nothing but in which tensors it has, and could it have any?
  /// Some of them were made in this iteration, or all existed before.
  enum class OtherOperand : std::uint8_t { kNone, kExisted, kMade };
  OtherOperand other_operand(const Call& call) const;
  static OtherOperand other_operand(const LibraryCall&) { return OtherOperand::kNone; }
  bool is_complete() const { return matched_ == segment_->calls.size(); }
  bool is_started() const { return matched_ > 0; }
  /// The last call has written memory that foreign code may look at now.
  bool must_commit_now() const { return commits_now_ || reads_now_; }
  /// The calls that have matched, as discovery counts them.
  Stretch stretch() const;
  const Stretch& whole() const { return whole_; }
  /// Of the views that are not taken for constants; 0 when not all calls have matched.
  std::uint32_t position() const;
  /// What a whole run stands for, see coverage.h.
  std::uint64_t operators() const { return operators_; }

  /// True when the call is the expected next call; `outputs` then hold pending tensors. Otherwise
  /// nothing has changed and `why` says what differs. Throws what a value check throws.
  bool match(const Call& call, const SiteKey& site, Tensor* outputs, Reason& why);
  bool match(const LibraryCall& recorded, const SiteKey& site, Reason& why);
  // The same for most calls, in the steps of fast_path.cpp.
  const ExpectedCall& expected() const { return expected_.calls[matched_]; }
  bool knows_operands(const ExpectedCall& expected, const Call& call) const;
  bool meet_operands(const ExpectedCall& expected, const Call& call);
  bool can_hand_out_again(const ExpectedCall& expected, const Tensor* outputs) const;
  template <bool kAgain>
  void take_call(const ExpectedCall& expected, Tensor* outputs);
  void take_numbers(const ExpectedCall& expected, const Call& call);
  /// Has nothing that this run reads been given to foreign code?
  bool is_plain() const { return !has_exposed_; }

  /// The program looks at the slot now: runs the stage that ends here; false when none does.
  bool run_stage_for(TensorImpl& impl);
  /// All calls have matched: runs what is left and makes everything real. False (with `why`) when
  /// this run must be repeated eagerly.
  bool commit(Reason& why);
  /// The results that commit() found held although the segment does not give them.
  const std::vector<std::pair<std::int32_t, std::int32_t>>& escaped() const { return escaped_; }
  // Another segment that begins with the calls matched here can go on with this run (paths.h).
  /// What lies before the expected call, and the key of a call that comes there.
  std::uint64_t path_node() const { return segment_->path[matched_]; }
  std::uint64_t key_of(const Call& call, const SiteKey& site) const;
  std::uint64_t key_of(const LibraryCall& recorded, const SiteKey& site) const;
  /// The storage that a pending result or a live-in of this run has, or -1.
  std::int32_t storage_of(const TensorImpl& impl) const;
  /// May the run of `from` go on here? Its segment and this one have the matched calls in common.
  bool can_switch_path(const Replay& from) const;
  /// The same, where the calls are known to be alike.
  bool can_receive(const Replay& from) const;
  /// Its handles, live-ins and numbers are this run's from now on; `from` is reset.
  void switch_path(Replay& from);
  /// Gives them back to the run that they were taken from.
  void hand_back(Replay& from);
  /// Runs the stages that the other had run before: false when a program failed.
  bool catch_up();
  /// The segment has taken on other sizes (symbolic_segment.h): handles of other sizes are made
  /// anew, and stages that have run run again.
  void note_resized();

  /// Runs the matched calls eagerly, in order, through the layers below the tracer. The last
  /// `skip_last` calls are left to the caller, who still has their expansion.
  void run_eagerly(std::size_t skip_last, Rerun* with = nullptr);
  /// Has that begun, and the run is not over?
  bool is_being_left() const { return was_left_; }
  /// Forgets this run.
  void reset();
  /// Between two runs: gives back what lies ready for the next one, the arena if it is large and
  /// with it the memory of results that nobody holds.
  void release_memory();
  /// The run of the thread that was the last one here.
  std::uint64_t last_run() const { return last_run_; }
  void note_run(std::uint64_t number) { last_run_ = number; }
  /// The same after an error: results that are not there yet never will be.
  void poison();
  /// What another thread owes, where the last match failed because of that; null: nothing.
  detail::RefPtr<TensorImpl> take_foreign() { return std::move(foreign_); }
  /// … and, where the call that comes now was given a live-in of another type, the first of them.
  Came::Input unlike_input() const;

  /// GROOVE_CHECK: call the first before commit(), the second after it succeeded; gives what
  /// differs between the compiled and the eager run, or nothing.
  void save_before_commit();
  std::string compare_with_eager();

 private:
  static constexpr std::uint32_t kNotReusable = ~0u;
  struct alignas(64) Live {
    groove::detail::RefPtr<TensorImpl> impl;  // pending handle, or a live-in bound for this run
    TensorImpl* object = nullptr;             // what operands are compared with
    std::uint64_t run = 0;                    // the run for which `object` is bound
    std::uint32_t epoch = 0;                  // metadata epoch of the handle as made, or as checked
    bool is_checked = false;                  // `object` is as it was when it was found right
    bool is_exposed = false;
    bool is_filled = false;               // real already in this run
    bool requires_grad = false;           // of the handle, as the slot says
    std::int32_t input = -1;              // which live-in the slot is
    std::uint32_t bound_at = 0;           // the call that bound it, for live-ins
    std::vector<unsigned char> snapshot;  // content of exposed memory at its first use
  };
  static_assert(sizeof(Live) == 64);

  void hand_out_again(SlotId slot, Tensor& output);
  bool is_reusable(const Live& live) const;
  bool match_operand(SlotId slot, const Tensor& tensor, Reason& why);
  bool bind(SlotId slot, TensorImpl& impl, Reason& why);
  bool bind_another(SlotId slot, TensorImpl& impl, Reason& why);
  bool bind_in_full(SlotId slot, TensorImpl& impl, Reason& why);
  bool take(Live& live, TensorImpl& impl, Reason& why);
  void expect_live_ins();
  bool is_apart(const Live& live, const TensorImpl& impl);
  void note_bound(Live& live, TensorImpl& impl);
  void retain(Live& live, TensorImpl& impl);
  void* memory_for_run(const Live& live) const;
  bool bind_nested(const RecordedCall& recorded, ArrayRef<TensorImpl*> walked, Reason& why);
  bool meet_exposed(Live& live, Reason& why);
  bool take_snapshot(Live& live, Reason& why);
  bool snapshot_is_current(const Live& live) const;
  const Live& memory_of(SlotId slot) const;
  const TapeNodePtr& released_node();
  TensorImpl& handle(SlotId slot);
  TensorImpl& existing_handle(SlotId slot);
  void begin_as_new(Live& live, const Slot& slot);
  bool renew(Live& live, const Slot& slot);
  bool check_values(const Call& call, const RecordedCall& recorded);
  void take_numbers(const RecordedCall& recorded, ArrayRef<Scalar> numbers);
  bool numbers_match(const RecordedCall& recorded, ArrayRef<Scalar> numbers, Reason& why) const;
  TensorImpl* changed_elsewhere(const RecordedCall& call) const;
  bool gradients_hold(const RecordedCall& recorded, Reason& why) const;
  bool flags_hold(const RecordedCall& recorded, Reason& why) const;
  void note_change(TensorImpl& leaf, bool is_of_flags);
  void apply_effects(const RecordedCall& recorded);
  void hand_out(const RecordedCall& recorded, std::size_t k, Tensor& output);
  void follow_code(const RecordedCall& recorded, const LibraryCall& big);
  bool reads_what_it_writes(const RecordedCall& recorded) const;
  bool must_not_wait(const RecordedCall& recorded, Reason& why);
  bool owe(const RecordedCall& recorded, Reason& why);
  bool take_effect(const RecordedCall& recorded, Reason& why);
  void* output_buffer(std::size_t output);
  void find_gradients();
  bool lends(std::size_t output) const;
  bool is_lent_back(const Live& live) const;
  void part_with_arena();
  void prepare_buffers(std::int32_t stage);
  void prepare_arena();
  bool prepare_program();
  void resume_resized();
  bool writes_what_was_kept() const;
  /// Gives kCompleted, or why nothing was run.
  Reason run_stage(std::int32_t stage);
  bool run_stages_through(std::int32_t stage);
  SlotId known_slot(const TensorImpl& impl) const;
  std::int32_t stages_seen(const Replay& from) const;
  Geometry geometry_of(SlotId slot) const;
  void fill(SlotId slot);
  void fill_storage_users(std::int32_t storage);
  bool has_escaped(Reason& why);
  bool has_aliases() const;
  bool has_another_name(SlotId written) const;
  void finish_writes();
  bool owes(const Live& live) const;
  void end_changes();
  void clear_owed();
  bool derive_history(SlotId view, TensorImpl& impl);
  void track_view(const TrackedView& view);
  void keep_history();
  void keep_live_history();
  void keep_used_up();
  void take_back_history(const Live& live);
  void drop_history();

  // leaving
  void restore_flags();
  std::shared_ptr<Script> script_of_rerun(std::size_t w) const;
  void stop_rerun(const RecordedCall& recorded, std::shared_ptr<Script> script);
  void hand_over_walks();
  void restore_gradients(const RecordedCall& recorded);
  std::vector<std::pair<TensorImpl*, Tensor>> gradients_set_by_hand(std::size_t count) const;
  static void put_back(std::vector<std::pair<TensorImpl*, Tensor>>& by_hand);
  // Memory that the run owes, as long as the calls that write it run one by one.
  class BeingMade {
   public:
    explicit BeingMade(const Replay& run);
    ~BeingMade();
    BeingMade(const BeingMade&) = delete;
    BeingMade& operator=(const BeingMade&) = delete;

   private:
    std::vector<StoragePtr> storages_;
  };
  // What live-ins held when a call read them.
  struct AsRead {
    std::vector<Live*> lives;
    std::vector<StandIn> stand_ins;
    std::vector<std::vector<char>> bytes;  // [stand-in]
    bool has(const Live& live) const;
    void add(Live& live);
    static std::size_t offset_of(const Live& live);
  };
  AsRead as_read(std::size_t recorded);
  void keep_as_written(Live& live, const AsRead& copies);
  TensorImpl* known(SlotId slot) const;
  Tensor operand(SlotId slot) const;
  std::vector<Scalar> numbers_of(const RecordedCall& recorded) const;
  Scalar number_of(const RecordedCall& recorded, std::size_t i) const;
  PooledVector<Scalar> numbers_of(const Node& node) const;
  void rerun(std::size_t w);
  void rerun_library_call(std::size_t w);
  std::vector<TensorImpl*> walked_by(const RecordedCall& recorded) const;
  void bind_results(const RecordedCall& recorded, Tensor* results);
  void show_again(std::size_t at);
  void rerun_call_of_library(const RecordedCall& recorded, const std::vector<Tensor>& inputs,
                             std::shared_ptr<Script>& script, TapeNode* code,
                             std::vector<Tensor>& results);
  void bind_result(SlotId slot, Tensor result);

  // checking
  struct Saved {
    TensorImpl* impl;
    std::vector<unsigned char> content;
    std::uint32_t version, unnoticed;
    TapeNodePtr history;
    std::uint32_t output;
    bool requires_grad;
  };

  SegmentPtr segment_;
  ExpectedCalls expected_;
  std::uint64_t session_;
  std::vector<Saved> saved_;
  std::uint64_t saved_sequence_ = 0;
  bool is_to_be_compared_ = false;
  bool is_comparing_ = false;
  Rerun* rerun_ = nullptr;
  bool was_left_ = false;
  bool commits_now_ = false;
  bool reads_now_ = false;  // … because it reads exposed memory of which nothing is kept
  std::uint64_t run_ = 0;
  std::uint64_t last_run_ = 0;
  std::size_t matched_ = 0;
  bool has_exposed_ = false;          // something that the run has read lies in exposed memory
  Stretch whole_;                     // of all calls
  std::vector<std::int32_t> starts_;  // numbers of the segment: where views begin that may move
  std::uint64_t operators_ = 0;
  std::int32_t next_stage_ = 0;
  std::int32_t own_stages_ = 0;  // that this replay ran before it took on other sizes
  bool is_resized_ = false;
  std::int64_t preparing_ = 0;
  std::int32_t owed_stages_ = 0;    // that the run had behind it when it was switched …
  std::int32_t stages_before_ = 0;  // … as the other segment counts them
  std::uint64_t tape_nodes_ = 0;
  std::vector<Live> live_;
  std::vector<ExpectedLiveIn> expected_live_ins_;
  std::vector<void*> addresses_;  // of the tensors that the live-ins know
  std::vector<SlotId> moved_;     // live-ins of this run that lie elsewhere than in the one before
  std::vector<SlotId> retained_;  // live-ins of this run that it has references of
  BoundObjects apart_;            // its live-ins that have gradients …
  std::vector<SlotId> names_;     // … and by what name, of all live-ins
  std::uint64_t reader_;          // … and on the storages of all
  detail::RefPtr<TensorImpl> foreign_;
  struct Unlike {
    std::uint64_t run = 0;  // of which run, and after how many calls: in another nothing is known
    std::size_t matched = 0;
    const Segment* segment = nullptr;
    SlotId slot = kNoSlot;
    const TensorImpl* came = nullptr;
  } unlike_;
  bool is_unlike_known() const { return unlike_.run == run_ && unlike_.matched == matched_; }
  bool refuse_type(SlotId id, const TensorImpl& impl, Reason& why);
  bool is_publishing_late_ = false;
  std::vector<TensorImpl*> unpublished_;  // filled, but still called pending
  std::vector<std::pair<std::int32_t, std::int32_t>> escaped_;
  std::vector<std::uint64_t> scalars_;
  std::vector<void*> buffers_;
  std::vector<std::vector<SlotId>> storage_users_;  // user-visible slots of each storage
  std::vector<SlotId> inner_;                       // what must not be held at the end
  std::vector<SlotId> views_;                       // … of storages that existed before
  std::vector<std::int32_t> outputs_;               // storages that are outputs, early or late
  std::vector<SlotId> written_;                     // live-ins whose storage is written
  std::vector<SlotId> changed_;                     // leaves whose gradient or flags change
  TapeNodePtr released_node_;
  std::vector<TensorImpl*> objects_;  // scratch
  TapeNodePtr used_up_;               // the history given last to results of which it is used up
  ProgramContext program_context_{.is_replay = true};
  StoragePtr arena_;
  std::vector<char> may_lend_;  // per output: a gradient, which is gone when the next run begins
  Workspace& workspace_;
  std::atomic<bool>& shows_results_;
  std::vector<std::pair<std::size_t, TapeNodePtr>> code_;  // user code that calls attached
  std::vector<std::shared_ptr<Script>> scripts_;           // backwards that it has stopped
  std::vector<std::shared_ptr<Script>> rerun_scripts_;     // … as the calls run again
  std::vector<StoragePtr> scratch_;  // [storage], for results that are real already
};

// Checks what the compiled code relies on and makes the tensor the slot's for this run. One certain
// object that is as it was has been checked.
inline bool Replay::bind(SlotId id, TensorImpl& impl, Reason& why) {
  Live& live = live_[static_cast<std::size_t>(id)];
  const AutogradMeta* const meta = impl.autograd;
  if (live.is_checked && live.object == &impl && impl.metadata_epoch == live.epoch &&
      impl.trace_session == 0 && impl.requires_grad == live.requires_grad &&
      (!meta || (!meta->has_changed_flags && !meta->grad_fn && meta->hooks == 0 &&
                 !meta->view_base.defined())) &&
      !impl.is_pending && !(impl.storage->flags & (Storage::kExposed | Storage::kNotThere)) &&
      impl.storage->readers & reader_ && failing_live_in() < 0 && is_apart(live, impl)) [[likely]] {
    note_bound(live, impl);
    buffers_[static_cast<std::size_t>(live.input)] =
        addresses_[static_cast<std::size_t>(live.input)];
    return true;
  }
  return bind_another(id, impl, why);
}

/// Is no other live-in of this run the object, where that matters?
inline bool Replay::is_apart(const Live& live, const TensorImpl& impl) {
  return !live.requires_grad || has_fault(Fault::kOneObjectTwice) ||
         apart_.claim(&impl, names_[static_cast<std::size_t>(live.input)], run_);
}

inline void Replay::note_bound(Live& live, TensorImpl& impl) {
  live.object = &impl;
  live.run = run_;
  live.is_exposed = false;
  live.bound_at = static_cast<std::uint32_t>(matched_);
  live.snapshot.clear();
}

inline void Replay::retain(Live& live, TensorImpl& impl) {
  live.impl = groove::detail::RefPtr<TensorImpl>(&impl);
  retained_.push_back(segment_->live_ins[static_cast<std::size_t>(live.input)]);
}

}  // namespace groove::tracer
