// What the tracer knows about one user thread: its state, the recording or replay under way, and
// what discovery has seen. Every dispatched call and big word of the thread passes through here.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <unordered_map>

#include "tracer/discovery.h"
#include "tracer/recorder.h"
#include "tracer/replay.h"

namespace groove::tracer {

class Context {
 public:
  Context();
  ~Context();

  void on_call(const Call& call, Tensor* outputs);
  void on_big_word(const BigWord& word, void (*expand)(void*), void* context);
  void on_host_read(TensorImpl& impl);
  void on_materialize(TensorImpl& impl);
  void on_host_access(TensorImpl& impl);
  void on_expose(TensorImpl& impl);
  void on_metadata_change(TensorImpl& impl);
  void on_copy(const Tensor& original, const Tensor& copy);
  void on_set_grad(TensorImpl& leaf, const Tensor& grad);
  void on_number_read(int origin);
  /// Makes everything real and goes back to watching.
  void flush(Reason reason);
  void forget();

  State state() const { return state_; }
  bool owns(const TensorImpl& impl) const {
    return replay_ && impl.trace_session == replay_->session();
  }

 private:
  // While one is open, calls of this thread go straight to the layers below.
  class Busy {
   public:
    explicit Busy(int& count) : count_(count) { ++count_; }
    ~Busy() { --count_; }

   private:
    int& count_;
  };
  // Held while words are handled, so that another thread may look at a pending tensor.
  class Lock {
   public:
    explicit Lock(Context& context);
    ~Lock();

   private:
    Context& context_;
    bool is_nested_;
  };
  friend class Lock;

  // The one place where the state changes.
  void move_to(State next);

  void call_in_expansion(const Call& call, Tensor* outputs);
  void watch_call(const Call& call, const SiteKey& site, std::uint64_t hash, Tensor* outputs);
  void record_call(const Call& call, const SiteKey& site, Tensor* outputs);
  template <typename Word>
  bool start_replay(std::uint64_t hash, const Word& word, const SiteKey& site, Tensor* outputs);
  bool try_match(const Call& call, const SiteKey& site, Tensor* outputs, Reason& why) {
    return replay_->match(call, site, outputs, why);
  }
  bool try_match(const BigWord& word, const SiteKey& site, Tensor*, Reason& why) {
    return replay_->match(word, site, why);
  }
  bool is_forced_out() const;
  void start_recording(const Discovery::Plan& plan);
  void finish_recording();
  void abandon_recording();
  bool commit_complete(std::size_t skip_last);
  /// Commits a run whose words have all matched; leaves any other.
  void end_run(Reason reason);
  void end_replay(bool is_hit, Reason reason);
  void leave(Reason reason, std::size_t skip_last);
  void throw_if_strict();

  State state_ = State::kWatching;
  int busy_ = 0;
  bool is_expanding_ = false;
  Discovery discovery_;
  std::optional<Discovery::Plan> recorded_plan_;
  std::uint64_t recorded_hash_ = 0;
  std::unique_ptr<Recorder> recorder_;
  Replay* replay_ = nullptr;
  std::unordered_map<Segment*, std::unique_ptr<Replay>> replays_;
  std::unordered_map<Segment*, Discovery::Kind> kinds_;
  std::optional<Reason> strict_reason_;
  std::int64_t commits_ = 0;
  std::atomic<bool> locked_{false};
};

/// The mode in force: set_mode(), else GROOVE_MODE.
bool is_tracing_allowed();
std::uint64_t next_session();

}  // namespace groove::tracer
