// Replays an armed segment on one thread: compares calls with the expected words, hands out
// pending tensors, runs the compiled stages when something must be known, and on a mismatch runs
// what has matched eagerly. Pending handles live on from iteration to iteration.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tracer/segment.h"

namespace groove::tracer {

class Replay {
 public:
  Replay(SegmentPtr segment, std::uint64_t session);
  ~Replay();
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  Segment& segment() const { return *segment_; }
  const SegmentPtr& segment_pointer() const { return segment_; }
  std::uint64_t session() const { return session_; }
  std::size_t matched() const { return matched_; }
  /// A raw pointer is about to be handed out: keeps what matched words have read of this storage.
  /// False when that cannot be done.
  bool expose(const Storage& storage, Reason& why);
  /// Is it a live-in of this run?
  bool is_bound(const TensorImpl& impl) const;
  bool is_complete() const { return matched_ == segment_->words.size(); }
  bool is_started() const { return matched_ > 0; }

  /// True when the call is the expected next word; `outputs` then hold pending tensors. Otherwise
  /// nothing has changed and `why` says what differs. Throws what a value check throws.
  bool match(const Call& call, const SiteKey& site, Tensor* outputs, Reason& why);
  bool match(const BigWord& word, const SiteKey& site, Reason& why);

  /// The program looks at the slot now: runs the stage that ends here; false when none does.
  bool run_stage_for(TensorImpl& impl);
  /// All words have matched: runs what is left and makes everything real. False (with `why`) when
  /// this run must be repeated eagerly.
  bool commit(Reason& why);
  /// The results that commit() found held although the segment does not give them.
  const std::vector<std::pair<std::int32_t, std::int32_t>>& escaped() const { return escaped_; }
  /// Runs the matched words eagerly, in order, through the layers below the tracer. The last
  /// `skip_last` words are left to the caller, who still has their expansion.
  void run_eagerly(std::size_t skip_last);
  /// Forgets this run.
  void reset();

  /// GROOVE_CHECK: call the first before commit(), the second after it succeeded; gives what
  /// differs between the compiled and the eager run, or nothing.
  void save_before_commit();
  std::string compare_with_eager();

 private:
  static constexpr std::uint32_t kNotReusable = ~0u;
  struct Live {
    detail::RefPtr<TensorImpl> impl;      // pending handle, or a live-in bound for this run
    TensorImpl* object = nullptr;         // what operands are compared with
    std::uint64_t run = 0;                // the run for which `object` is bound
    std::uint32_t epoch = 0;              // metadata epoch of the handle as made
    std::vector<unsigned char> snapshot;  // content of exposed memory at its first use
    bool is_exposed = false;
    std::size_t bound_at = 0;  // the word that bound it, for live-ins
    bool is_filled = false;    // real already in this run
  };

  bool match_operand(SlotId slot, const Tensor& tensor, Reason& why);
  bool bind(SlotId slot, TensorImpl& impl, Reason& why);
  bool bind_nested(const Word& word, Reason& why);
  bool bind_recorded(SlotId id, Reason& why);
  bool take_snapshot(SlotId slot, TensorImpl& impl, Reason& why);
  bool snapshot_is_current(const Live& live) const;
  const Live& memory_of(SlotId slot) const;
  TensorImpl& handle(SlotId slot);
  TensorImpl& existing_handle(SlotId slot);
  void take_numbers(const Word& word, ArrayRef<Scalar> numbers);
  bool numbers_match(const Word& word, ArrayRef<Scalar> numbers, Reason& why) const;
  bool effects_apply(const Word& word, Reason& why) const;
  void apply_effects(const Word& word);
  void owe(const Word& word);
  void prepare_buffers(std::int32_t stage);
  bool run_stage(std::int32_t stage);
  Geometry geometry_of(SlotId slot) const;
  void fill(SlotId slot);
  void fill_storage_users(std::int32_t storage);
  bool has_escaped(Reason& why);
  bool has_aliases() const;
  void finish_writes();
  void clear_owed();

  // leaving
  void restore_gradients();
  std::vector<Live*> swap_snapshots(std::size_t word);
  static void swap_back(const std::vector<Live*>& swapped);
  Tensor operand(SlotId slot);
  std::vector<Scalar> numbers_of(const Word& word) const;
  void rerun(const Word& word);
  void rerun_big(const Word& word, const std::vector<Tensor>& inputs);
  void bind_result(SlotId slot, const Tensor& result);

  // checking
  struct Saved {
    TensorImpl* impl;
    std::vector<unsigned char> content;
    std::uint32_t version;
  };
  void compare_result(const TensorImpl& compiled, const TensorImpl& eager);

  SegmentPtr segment_;
  std::uint64_t session_;
  std::vector<Saved> saved_;
  std::uint64_t saved_sequence_ = 0;
  bool is_comparing_ = false;
  std::string difference_;
  std::uint64_t run_ = 0;
  std::size_t matched_ = 0;
  std::int32_t next_stage_ = 0;
  std::uint64_t tape_nodes_ = 0;
  std::vector<Live> live_;
  std::vector<std::pair<std::int32_t, std::int32_t>> escaped_;
  std::vector<std::uint64_t> scalars_;
  std::vector<void*> buffers_;
  std::vector<std::vector<SlotId>> storage_users_;  // user-visible slots of each storage
  TapeNodePtr released_node_;
  ProgramContext program_context_;
  StoragePtr arena_;
};

}  // namespace groove::tracer
