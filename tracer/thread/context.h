// What the tracer knows about one user thread: its state, the recording or replay under way, and
// what discovery has seen. Every dispatched call and library call of the thread passes through
// here.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <unordered_map>

#include "tracer/cache/symbolic_copy.h"
#include "tracer/record/recorder.h"
#include "tracer/replay/replay.h"
#include "tracer/thread/modes.h"
#include "tracer/thread/owner_lock.h"
#include "tracer/thread/threads.h"
#include "tracer/watch/balance.h"
#include "tracer/watch/discovery.h"
#include "tracer/watch/investment.h"
#include "tracer/watch/side_exits.h"
#include "tracer/watch/step_clock.h"

namespace groove::tracer {

class Context {
 public:
  explicit Context(std::uint64_t index);
  ~Context();

  void on_call(const Call& call, Tensor* outputs);
  /// The same where a replay most likely expects it (fast_path.cpp).
  void on_call_in_replay(const Call& call, Tensor* outputs);
  void on_library_call(const LibraryCall& recorded, void (*expand)(void*), void* context);
  void on_host_read(TensorImpl& impl);
  void on_materialize(TensorImpl& impl);
  void on_host_access(TensorImpl& impl);
  void on_flags_read(TensorImpl& impl);
  /// Of what a recording or replay of this context knows: does the program have it but once?
  bool is_temporary(const TensorImpl& impl);
  void on_expose(TensorImpl& impl);
  void on_metadata_change(TensorImpl& impl);
  void on_copy(const Tensor& original, const Tensor& copy);
  void on_version(const TensorImpl& impl);
  void on_set_grad(TensorImpl& leaf, const Tensor& grad);
  void on_use_grad(TensorImpl& leaf);
  void on_number_read(int origin);
  /// What comes next runs eagerly because the program says so: the loop around it is cut here.
  void on_eager_region();
  /// A step of the program is over, or it reads a value: is the tracer to pause in the next one?
  /// (context_balance.cpp)
  void on_program_step();
  void on_program_read();
  void go_on();
  /// The program is about to be thrown an error.
  void on_error();
  /// Makes everything real and goes back to watching.
  void flush(Reason reason);
  void forget();
  /// Tracing is off: nothing of this thread may be pending.
  void settle_down();
  /// Another thread looks at something that this one owes.
  void on_touch_from_outside(TensorImpl& impl);
  /// … and does more with it than look: the run that made it ends.
  void on_use_from_outside(TensorImpl& impl);
  void on_gradient_from_outside(TensorImpl& leaf);
  void on_read_from_outside(Storage& storage);
  /// Are there results that are real although their run is not over? For any thread.
  bool shows_results() const { return shows_results_.load(std::memory_order_acquire); }
  /// Another thread is about to write what the run under way may have to read yet.
  void on_write_from_outside(Storage& storage);
  /// The thread ends: what is pending is committed. Never throws.
  void end() noexcept;

  /// A call of a function that was given to jit::compile() begins, with arguments of these types,
  /// and ends (context_calls.cpp).
  void begin_call(std::uint64_t key);
  void end_call(bool is_thrown);

  State state() const { return state_; }
  std::uint64_t index() const { return index_; }
  /// Is some thread inside?
  bool is_held() const { return lock_.is_held(); }
  /// Is this thread inside a commit or an expansion, of whichever context?
  static bool is_running() { return busy_ > 0; }
  /// Does this thread hold the lock of some context?
  static bool is_inside_any() { return inside_ > 0; }

 private:
  // While one is open, calls of this thread go straight to the layers below.
  class Busy {
   public:
    explicit Busy(int& count) : count_(count) { ++count_; }
    ~Busy() { --count_; }

   private:
    int& count_;
  };
  // Held while a replay is matched, run or left, so that another thread may look at what it owes.
  // Whoever holds its own never waits for another's: what a replay has bound is real.
  class Lock {
   public:
    explicit Lock(Context& context) : lock_(context.lock_), is_new_(lock_.lock(&busy_)) {
      ++inside_;
    }
    ~Lock() {
      --inside_;
      if (is_new_) lock_.unlock(&busy_);
    }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

   private:
    OwnerLock& lock_;
    const bool is_new_;
  };
  class TapeOfOwner;
  /// For another thread: ends the run under way.
  void settle_run_from_outside();
  enum class Matched : std::uint8_t { kNo, kYes, kLeftLast };  // … the last call's expansion to run

  // The one place where the state changes.
  void move_to(State next);

  void call_in_expansion(const Call& call, Tensor* outputs);
  [[gnu::noinline]] void on_call_with_news(const Call& call, const SiteKey& site,
                                           std::uint64_t hash, Tensor* outputs);
  void watch_call(const Call& call, const SiteKey& site, std::uint64_t hash, Tensor* outputs);
  void run_watched(const Call& call, std::uint64_t hash, Tensor* outputs);
  bool has_moved(std::uint64_t hash, std::uint32_t position);
  void record_call(const Call& call, const SiteKey& site, std::uint64_t hash, Tensor* outputs);
  void run_recorded(const Call& call, const SiteKey& site, Tensor* outputs);
  void run_recorded(const LibraryCall& recorded, const SiteKey& site, void (*expand)(void*),
                    void* context);
  /// A run of the segment begins if this is its first call.
  template <typename AnyCall>
  bool begin_run(const SegmentPtr& segment, const AnyCall& recorded, const SiteKey& site,
                 Tensor* outputs, Reason& why);
  template <typename AnyCall>
  bool start_replay(std::uint64_t hash, const AnyCall& recorded, const SiteKey& site,
                    Tensor* outputs);
  template <typename AnyCall>
  bool begin_run(Replay& replay, const AnyCall& recorded, const SiteKey& site, Tensor* outputs,
                 Reason& why);
  bool try_match(const Call& call, const SiteKey& site, Tensor* outputs, Reason& why) {
    return replay_->match(call, site, outputs, why);
  }
  bool try_match(const LibraryCall& recorded, const SiteKey& site, Tensor*, Reason& why) {
    return replay_->match(recorded, site, why);
  }
  bool is_forced_out() const {
    return static_cast<std::int64_t>(replay_->matched()) == forced_exit();
  }
  [[gnu::noinline]] void on_first_use(const Call& call, Tensor* outputs);
  [[gnu::noinline]] void take_numbers_and_release(const ExpectedCall& expected, const Call& call);
  template <typename AnyCall>
  Matched match_next(const AnyCall& recorded, const SiteKey& site, Tensor* outputs);
  bool ends_step_now(const Call&) const { return false; }
  bool ends_step_now(const LibraryCall& recorded) const {
    return recorded.ends_step && replay_->is_complete();
  }
  /// The call that ends a step has matched: commits. True when its expansion is still to be run.
  bool must_run_last(const LibraryCall& recorded);
  void take_back_tape();
  std::uint64_t next_session(SessionOf what) const { return new_session(*this, what); }
  /// With synchronous compilation nothing depends on the clock.
  bool affords_recording(std::size_t calls) const;
  void start_recording(const Discovery::Plan& plan);
  void finish_recording(bool is_cut = false);
  void close_recording(bool is_cut);
  bool keep_recorded(SegmentPtr segment, const char* how);
  bool begins_elsewhere();
  void note_recorded(std::uint64_t hash, Discovery::Cost cost, std::uint32_t position = 0);
  void abandon_recording();
  /// The recording under way leaves its exit without a segment. False where it is of no exit.
  bool give_up_side();
  /// Whatever came of it has been taken.
  void stop_recording();
  /// Does the call follow histories that began before the recording under way, or before any?
  bool follows_outside(const LibraryCall& recorded) const;
  /// What was recorded so far is a segment of its own; what follows is in none for now.
  void end_recording();
  void run_outside(std::uint64_t hash, void (*expand)(void*), void* context);
  void close_run() { shows_results_.store(false, std::memory_order_release); }
  bool commit_complete(std::size_t skip_last);
  /// Commits a run whose calls have all matched; leaves any other.
  void end_run(Reason reason);
  void end_replay(bool is_hit, Reason reason);
  void deoptimize(Reason reason, std::size_t skip_last);
  /// Leaving has failed: what is still pending stays so for ever.
  void give_up_run();
  // Telling (context_tell.cpp): who came where another call was expected, what it cost, and the
  // error of strict mode.
  void note_came(const Op& op, const Site& site) { came_ = {&op, user_site(site)}; }
  /// Why the run is really left; notes it, and in strict mode what is to be thrown.
  Reason note_exit(Reason reason, std::int64_t nanoseconds);
  std::int64_t time_since_exit();
  // A loop that could not be recorded.
  struct Uncompiled {
    std::string source;
    Reason reason = Reason::kException;
    std::uint64_t iterations = 0;
  };
  void note_not_compiled(std::uint64_t head, Reason reason);
  void note_uncompiled(Uncompiled& loop);
  void forget_uncompiled();
  /// `eager_call`: the hash of the call that has just run eagerly.
  void throw_if_strict(std::uint64_t eager_call = 0) {
    if (uncompiled_filter_ >> (eager_call & 63) & 1 || !strict_error_.empty()) [[unlikely]]
      throw_strict_error(eager_call);
  }
  void throw_strict_error(std::uint64_t eager_call);

  // Paths (context_paths.cpp): what becomes of a run that does not do what its segment says.
  // What is recorded when a run is left: its calls and what comes now, or its calls alone.
  enum class Wanted : std::uint8_t { kNothing, kSide, kPiece };
  class Redo;
  Replay& replay_of(const SegmentPtr& segment);
  // Segments that may begin with a call, as the registry gave them at its state `changes`.
  struct Beginning {
    std::uint64_t head = 0, key = 0, changes = ~0ull;
    std::vector<SegmentPtr> segments;
    bool are_one_loop = false;
    Replay* first = nullptr;  // of the first of them, once it was tried
    // Runs of these in a row that went on at other sizes. After some, the symbolic segment is tried
    // first, but now and then.
    std::uint32_t resized = 0, asked = 0;
    bool prefers_any_size() {
      constexpr std::uint32_t kFew = 2, kSeldom = 64;
      return resized >= kFew && ++asked % kSeldom != 0;
    }
  };
  static constexpr std::size_t kBeginnings = 64;
  void look_up(Beginning& known, std::uint64_t head, std::uint64_t key);
  template <typename AnyCall>
  bool go_over(const AnyCall& recorded, const SiteKey& site, Tensor* outputs, Reason why);
  bool go_over_to_reader(TensorImpl& impl);
  bool began_after(std::uint64_t before) const { return before == 0 || before == began_after_; }
  bool go_over_to_end();
  /// Frees the replays of segments that are no more.
  void drop_retired();
  void release_idle(Replay& ran);
  void release_gone();
  void note_time(Segment& segment, std::int64_t nanoseconds);
  /// A run of so many calls is over; `gained`: nanoseconds, against eager mode.
  void note_gain(const SegmentPtr& segment, bool is_hit, std::size_t calls, double gained);
  static void order_by_promise(PooledVector<SegmentPtr>& segments);
  /// Is what came at this exit to be recorded now?
  Wanted wants_side(std::uint64_t exit, Reason reason);
  /// Are the calls up to this exit?
  Wanted wants_piece(std::uint64_t exit, Reason reason);
  SegmentPtr base_of_side() const;
  void begin_side(const SegmentPtr& base, std::uint64_t exit);
  void run_again_recorded(Reason reason, bool is_piece);
  void start_side_recording(std::uint64_t head);
  struct Again {  // to be recorded afresh
    SegmentPtr base;
    bool is_sample = false;  // because of its sizes
    int samples_left = -1;   // that may follow, until it is compiled by itself; -1: it never is
  };
  /// Is what begins with this call to be? Null if not.
  const Again* wanted_again(std::uint64_t head) const {
    const auto found = again_.empty() ? again_.end() : again_.find(head);
    const bool is_wanted =
        found != again_.end() &&
        (!found->second.is_sample || discovery_.is_after(found->second.base->before));
    return is_wanted ? &found->second : nullptr;
  }
  /// Keeps in mind what was recorded for an exit.
  void note_made(const SegmentPtr& segment);
  // Sizes (context_shapes.cpp).
  struct Shown {                        // by the calls of a segment
    std::vector<std::uint64_t> before;  // [call] the structure up to there
    std::vector<std::size_t> first;     // [call] its first number
    SizeValues values;
  };
  SymbolicCopy& copy_of(const SymbolicSegmentPtr& symbolic);
  SymbolicCopy* copy_under_replay();
  const Shown& shown_of(const SegmentPtr& segment);
  bool take_on(SymbolicCopy& copy, const SizeValues& sizes, std::size_t at, std::size_t first);
  template <typename AnyCall>
  bool start_at_sizes(std::uint64_t head, const AnyCall& recorded, const SiteKey& site,
                      Tensor* outputs);
  Replay* at_sizes_of_run(const SymbolicSegmentPtr& symbolic, const SizeValues* shown);
  bool go_over_to_end_at_sizes();
  template <typename AnyCall>
  bool follow_sizes(const AnyCall& recorded, const SiteKey& site, Tensor* outputs, Reason& why);
  void note_other_sizes(std::uint64_t head, Reason refusal);
  template <typename AnyCall>
  bool is_passed_over(const SegmentPtr& segment, std::size_t at, const AnyCall& call,
                      const SiteKey& site);
  static bool may_be_at_other_sizes(const Segment& segment);
  template <typename AnyCall>
  bool wants_sample_here(const AnyCall& call, const SiteKey& site, Reason reason);
  bool keep_sample(const SegmentPtr& segment);
  bool keep_first_sample(const SegmentPtr& segment);
  /// Are there likely to be others than the sizes that the recording has?
  bool has_endless_sizes() const {
    return discovery_.any_sizes() != any_sizes_before_ || was_given_other_sizes_ ||
           given().by_value != given_by_value_before_;
  }
  void drop_retired_symbolic_segments();
  // Cuts (cut.cpp).
  struct Rest {  // of an iteration whose first piece has been recorded
    SegmentPtr piece;
    Discovery::Kind kind;
    std::size_t length;
    std::uint64_t stop, before;
    int samples_left;
  };
  void cut_recording(Reason reason);
  bool starts_rest(std::uint64_t head);
  void deoptimize_and_cut(Reason reason);
  bool is_recording_over(std::uint64_t next) const;
  bool is_recording_over_at_read() const;
  bool record_read(TensorImpl& impl);
  bool is_recording_first(std::uint64_t hash, const Discovery::Plan* plan);
  template <typename AnyCall>
  bool try_start_recording(const AnyCall& call, const SiteKey& site, std::uint64_t hash,
                           const Discovery::Plan* plan);
  bool is_worth_recording(const Discovery::Plan& plan);
  bool is_part_of_recorded(const Discovery::Plan& plan);
  bool was_in_vain(const Discovery::Plan& plan);
  bool has_waiting_segment(const Discovery::Plan& plan);
  /// Might try_start_recording() do something without a plan?
  bool is_recording_due() const { return !frames_.empty() || !again_.empty() || rest_; }
  // Calls under way of functions given to jit::compile(), and how often they came.
  struct CallFrame {
    enum class Stage : std::uint8_t { kInside, kWatched, kWanted, kRecorded };
    std::uint64_t key;
    Stage stage;
  };
  struct CallCount {
    std::uint64_t seen = 0;
    int recordings = 0;
  };
  bool is_call_wanted() const;
  void note_nested_call();
  void start_call_recording(std::uint64_t head);
  /// Tells discovery which calls a replay that ends now stands for.
  void note_run(bool is_hit);
  // Iterations that run eagerly although there is a segment, to compare the times
  // (context_trials.cpp). Discovery is told of them as of runs: they are no sign that anything is
  // to be recorded.
  struct Trial {
    SegmentPtr wanted;
    Stretch whole;  // its calls
    Stretch calls = {};
    std::uint64_t head = 0, last = 0;
    std::uint64_t waits_from = 0;  // after how many calls of all
    bool is_waiting = false;
    std::int64_t start = 0;
    int count = 0;  // iterations so far
  };
  /// It ran: is it to be tried when its first call comes next?
  void want_trial(const Replay& replay);
  bool begin_trial(const SegmentPtr& segment);
  bool is_trial_running() const { return trial_ && !trial_->is_waiting; }
  void note_watched(std::uint64_t hash, Discovery::Cost cost, std::uint32_t position = 0) {
    if (trial_ && follow_trial(hash)) [[unlikely]]
      return;
    discovery_.on_call(hash, cost, position);
  }
  /// True for a call of it.
  [[gnu::noinline]] bool follow_trial(std::uint64_t hash);
  /// The program does something else.
  void end_trial();
  void note_step_end();

  static inline constinit thread_local int busy_ = 0;
  static inline constinit thread_local int inside_ = 0;  // Locks held
  // What every call looks at.
  AtomicValue<State> state_{State::kWatching};
  bool is_expanding_ = false;
  // Set when another thread has ended the replay: sequence_ is where this thread's tape is then.
  AtomicValue<bool> is_tape_outside_;
  OwnerLock lock_{&busy_};
  Replay* replay_ = nullptr;
  std::uint64_t uncompiled_filter_ = 0;  // of the heads in uncompiled_
  const std::uint64_t index_;
  Discovery discovery_;
  void set_paused(bool is_paused);
  Balance balance_;
  bool is_paused_ = false;
  std::int64_t step_began_ = 0, steps_ = 0;
  std::uint64_t operators_before_ = 0, compiled_before_ = 0;
  StepClock step_clock_;
  std::int64_t clock_ = 0, clock_before_ = -1;  // what all steps took, at the last one's end
  ShortSteps short_steps_;
  Savings savings_;
  std::optional<Discovery::Plan> recorded_plan_;
  Stretch recorded_;                         // calls of the recording so far
  std::uint32_t recorded_cost_ = 0;          // of these, and of those that ran again
  std::vector<std::uint64_t> times_before_;  // after how many calls the same came the last times
  std::vector<std::uint64_t> moved_calls_;   // their hashes, of views that were elsewhere then
  std::unique_ptr<Recorder> recorder_;
  Workspace workspace_;  // of all replays
  std::unordered_map<Segment*, std::unique_ptr<Replay>> replays_;
  std::array<Beginning, kBeginnings> beginnings_;   // by head
  std::unordered_map<std::uint64_t, Again> again_;  // by head
  SideExits side_exits_;
  std::unordered_map<const SymbolicSegment*, std::unique_ptr<SymbolicCopy>> shapes_;
  std::unordered_map<const Segment*, Shown> shown_;
  bool is_sample_ = false;  // Again::is_sample of the recording under way, or of the one wanted …
  int samples_left_ = -1;   // … and Again::samples_left
  static constexpr int kMostSamplesInARow = 6;
  std::uint32_t any_sizes_before_ = 0;  // Discovery::any_sizes() as the recording began
  std::uint64_t given_by_value_before_ = 0;
  bool was_given_other_sizes_ = false;  // what is recorded, the last times
  bool is_at_new_sizes_ = false;        // the run under way, other than the one before
  bool is_waiting_ = false;  // for a program at these sizes: nothing needs to be recorded
  std::vector<CallFrame> frames_;
  std::unordered_map<std::uint64_t, CallCount> calls_;  // by function and types
  std::uint64_t compiled_runs_ = 0;
  std::uint64_t retirements_ = 0;     // of all segments, when replays_ was last looked through
  Wanted wanted_ = Wanted::kNothing;  // of the run that is about to be left
  SegmentPtr side_of_;                // whose iteration is being recorded otherwise, to its end
  std::uint64_t side_exit_ = 0;       // where it went another way; 0: nowhere
  std::uint64_t recorded_stop_ = 0;   // the call before which the recording ends; 0: none
  std::optional<Rest> rest_;
  std::optional<Trial> trial_;
  std::optional<Trial> wanted_trial_;  // of a path that came last
  SegmentPtr wanted_time_;             // the same
  Came came_;
  std::optional<std::size_t> error_at_;  // calls that had matched when an error was thrown
  std::string strict_error_;             // to be thrown when the program is back in its own code
  std::unordered_map<std::uint64_t, Uncompiled> uncompiled_;  // by head
  std::uint64_t began_after_ = 0;                             // what came before the run under way
  std::int64_t started_ = -1;  // of a run that is timed, in nanoseconds
  std::int64_t noted_exit_ = nanoseconds_now();
  double lost_at_exit_ = 0;  // against eager mode, in nanoseconds
  std::int64_t commits_ = 0;
  std::atomic<bool> shows_results_{false};
  // Where this thread's tape was when the replay began, and, after another thread has ended the
  // replay, where it is.
  std::uint64_t sequence_ = 0;
  std::uint32_t tape_ = 0;  // this thread's
};

/// The mode in force: set_mode(), else GROOVE_MODE.
bool is_tracing_allowed();

}  // namespace groove::tracer
