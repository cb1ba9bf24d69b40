// Records one iteration of a loop while it runs eagerly: calls and slots for the matcher, and the
// functional graph for the compiler. A storage has a current value; reading a view derives it from
// that value, writing through a view makes a new value of the whole.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "src/core/small_vector.h"
#include "tracer/calls/segment.h"
#include "tracer/record/graph_log.h"

namespace groove::tracer {

class Recorder {
 public:
  // Calls whose views were seen to move: what they start at is a run-time number. Others are taken
  // for constants.
  struct Moving {
    bool are_all = false;
    std::vector<std::size_t> calls = {};
    bool contains(std::size_t recorded) const {
      return are_all || std::find(calls.begin(), calls.end(), recorded) != calls.end();
    }
  };

  /// Results that escaped a replay of an earlier recording: (call, output); always outputs now.
  using Widened = std::vector<std::pair<std::int32_t, std::int32_t>>;
  Recorder(std::uint64_t head, std::uint64_t session, Moving moving, Widened widened);
  ~Recorder();

  std::uint64_t session() const { return session_; }
  /// Set when this iteration cannot become a segment.
  std::optional<Reason> failure() const { return failure_; }
  bool knows(const TensorImpl& impl) const { return known_slot(impl) != kNoSlot; }
  void fail(Reason reason);
  std::size_t calls() const { return segment_->calls.size(); }
  /// The call just recorded, as discovery knows it.
  void set_hash(std::uint64_t hash) { current().hash = hash; }
  /// Is it, or the memory that it is a view of, made by a call of this recording?
  bool makes(const TensorImpl& impl) const {
    const std::int32_t known = impl.storage ? known_storage(impl.storage) : -1;
    return known >= 0 && !segment_->storages[static_cast<std::size_t>(known)].is_live_in;
  }
  /// Has it found out why it must fail, so that the next recording need not?
  bool has_learned() const { return has_learned_; }
  std::uint64_t last_hash() const { return segment_->calls.back().hash; }
  /// Must the recording end before the program looks at this, or before this call (cut.cpp)?
  bool must_end_before_read(const TensorImpl& impl) const;
  std::optional<Reason> must_end_before(const Call& call, const SiteKey& site) const;
  /// Has the last call written memory that foreign code may look at?
  bool must_end_now() const { return must_end_now_; }
  /// What recording has cost so far, in nanoseconds.
  std::int64_t overhead() const { return overhead_; }
  void set_before(std::uint64_t before) { segment_->before = before; }
  /// About how many calls there will be.
  void expect(std::size_t calls);
  /// The view that the next call makes moves.
  void expect_move() { moving_.calls.push_back(calls()); }
  /// "file:line" of the first call.
  std::string source() const;
  /// The last call, for people: "relu at model.cpp:31".
  std::string last_call() const;
  /// Of the iteration so far, as it runs eagerly.
  double milliseconds() const;

  /// Where on the tape it began.
  std::uint64_t first_position() const { return first_position_; }

  // A call that is one op: open before it runs, close with its results.
  void open(const Call& call, const SiteKey& site);
  void close(const Call& call, Tensor* outputs);
  // A call whose expansion is recorded: a library call, or a composite that the tape sees through.
  void open_expansion(const Call& call, const SiteKey& site);
  void open_expansion(const LibraryCall& recorded, const SiteKey& site);
  void close_expansion(const Call* call, Tensor* outputs);
  void close_expansion(const LibraryCall& big);
  // A call inside an expansion.
  void open_nested(const Call& call);
  void close_nested(const Call& call, Tensor* outputs);

  /// The numbers of the call just opened, knowing which of the segment's numbers they are.
  std::vector<Scalar> tagged(ArrayRef<Scalar> numbers) const;
  /// Host code looked at the value of such a number: it is structure from now on.
  void number_was_read(int origin);

  /// The program holds this result under another handle.
  void substitute(const TensorImpl& result, TensorImpl& handle);

  /// A copy that the tape made, below the recording, of what an operand holds now.
  void note_copy(const Tensor& original, const Tensor& copy);
  /// The program has counted a write of its own.
  void note_version(const TensorImpl& impl) {
    if (!failure_ && knows(impl)) note_left(known_slot(impl));
  }

  // The expansion that is open walks the `.grad` of a leaf, or sets it.
  void use_grad(TensorImpl& leaf);
  void set_grad(TensorImpl& leaf, const Tensor& grad);
  /// The program looked at this tensor now.
  void host_read(TensorImpl& impl);
  /// Has the program one reference of it, and nothing else in its memory (temporaries.cpp)?
  bool is_temporary(const TensorImpl& impl) const;
  /// A raw pointer to its memory was handed out: what later calls read of it may be anything.
  void expose(TensorImpl& impl);

  /// The call before which the loop of which this is one iteration is best cut: where the fewest
  /// results of earlier calls are used later. 0 is where it was cut.
  std::size_t best_beginning() const;
  std::uint64_t hash_of(std::size_t call) const { return segment_->calls[call].hash; }
  /// All of them, from this one on and round to it.
  Stretch calls_from(std::size_t first) const { return segment_->calls_from(first); }
  /// The segment, with outputs found from what the program still holds; null when it failed.
  SegmentPtr finish();

 private:
  struct Cached {
    ValueId value = kNoValue;
    std::uint32_t writes = 0;
    bool is_fresh = false;  // a live-in that was first seen inside an expansion
  };
  // The last call, counted from 1, that used a slot, or noted it among …
  struct Noted {
    std::int32_t used = 0;
    std::int32_t nested = 0, read = 0, walked = 0;  // nested_live_ins, read_live_ins, grads_before
  };
  struct Prepared {  // of the call that runs now
    SmallVector<SlotId, 6> inputs = {};
    SmallVector<ValueId, 6> values = {};
    CheckedValue checked = {};
  };
  using Numbers = SmallVector<NumberRef, 4>;

  SlotId known_slot(const TensorImpl& impl) const;
  std::int32_t known_storage(const StoragePtr& storage) const;
  SlotId slot_of(const Tensor& tensor);
  SlotId add_live_in(const Tensor& tensor, SlotId known);
  bool may_be_any(const Tensor& tensor) const;
  Operands operands_of_call(const Call& call, std::uint64_t line);
  SlotId operand_of(const Call& call, std::size_t k, Operands operands, std::uint64_t line);
  bool begins_line_of_made(const Call& call, const SiteKey& site) const;
  bool must_be_there_before(const Call& call) const;
  bool is_any(Operands operands, std::uint64_t operand, const TensorImpl& impl);
  void restore_names();
  void note_written(const StoragePtr& memory);
  SlotId add_slot(TensorImpl& impl);
  void keep_content(SlotId live_in);
  bool is_another_live_in(SlotId known);
  void note_nested_live_in(SlotId id, const Tensor& tensor);
  void add_nested_live_in(SlotId id);
  void note_walked(ArrayRef<TensorImpl*> walked);
  void note_found();
  ValueId read(SlotId slot);
  void write(SlotId slot, ValueId value, ScalarType dtype, bool is_unnoticed);
  // Where a view lies in its base seen as a contiguous tensor, with its moving starts at 0.
  struct Region {
    Geometry geometry;
    std::vector<NumberRef> starts;
    std::vector<std::int64_t> steps, extents;
  };
  std::optional<Region> region_in_base(SlotId slot) const;
  Prepared prepare(const Call& call, std::uint64_t line);
  CheckedValue prepare_check(const Call& call, SlotId slot);
  void record_results(const Call& call, const Prepared& prepared, Tensor* outputs,
                      const Numbers& numbers, std::vector<SlotId>& output_slots,
                      std::vector<bool>* output_is_new);
  void note_apart(const Op& op);
  ScalarType type_in_place(const Call& call, const Prepared& prepared, std::size_t k) const;
  void fill_call(RecordedCall& recorded, const Op& op, const Attrs& attrs, ArrayRef<Scalar> numbers,
                 const SiteKey& site, Site source);
  NumberRef number_ref(const Scalar& number);
  void add_stage_end(SlotId slot);
  bool is_held(SlotId slot) const;
  void keep_widened();
  void note_use(SlotId slot);
  void let_go(SlotId slot);
  void settle_result(SlotId slot);
  struct Versions {
    std::uint32_t noticed = 0, unnoticed = 0;
    bool operator==(const Versions&) const = default;
  };
  static Versions versions_of(const Storage& storage) {
    return {storage.version, storage.unnoticed};
  }
  void add_storage(SlotId base, const StoragePtr& object, ValueId value, bool is_live_in);
  bool is_written_outside(const TensorImpl& impl) const;
  void pass_over_writes(SlotId live_in);
  void note_left(SlotId slot);
  void note_history(SlotId live_in);
  void note_derived_histories();
  void track_views(SlotId id);
  void add_history(const std::vector<SlotId>& held);
  void note_uses();
  void add_output(std::int32_t storage);
  void add_outputs();
  void note_results(const Tensor* results, std::size_t count);
  void note_stop(const Script& script);
  void note_flags(const LibraryCall& big);
  std::uint32_t hooks_as_recorded(SlotId live_in) const;
  RecordedCall& current() { return segment_->calls.back(); }

  std::uint64_t session_;
  std::uint32_t nested_calls_ = 0;
  std::int64_t started_ = nanoseconds_now(), overhead_ = 0;  // of the recording, in nanoseconds
  Moving moving_;
  SegmentPtr segment_;
  std::shared_ptr<GraphLog> log_ = std::make_shared<GraphLog>();
  std::vector<SlotId> results_;  // of the call inside an expansion that was closed last
  std::optional<Reason> failure_;
  bool in_expansion_ = false;
  bool must_end_now_ = false;
  bool has_learned_ = false;
  std::vector<std::pair<TapeNodePtr, std::int32_t>> attached_;     // user code, and by which call
  std::unordered_map<const TapeNode*, std::int32_t> attached_by_;  // … when all is recorded
  int open_walks_ = 0;               // backwards that user code stopped
  std::vector<bool> required_grad_;  // operands of the library call that is open
  std::unordered_map<const TensorImpl*, std::int32_t> walked_;  // … and the places of what it walks
  std::uint64_t sequence_at_open_ = 0;
  std::uint64_t first_position_ = 0;           // on the tape
  std::vector<Prepared> open_;                 // calls that are running now
  std::vector<Tensor> objects_;                // [slot]; undefined: nobody has held it for a while
  std::vector<std::uint64_t> segment_values_;  // [number] as recorded
  std::vector<Cached> cached_;                 // [slot]
  std::vector<Noted> noted_;                   // [slot]
  std::vector<ValueId> storage_value_;         // [storage]
  std::vector<StoragePtr> storage_objects_;    // [storage]; null like objects_
  // Other threads may be recording with the same inputs, so what lies in a tensor is not enough.
  std::unordered_map<const TensorImpl*, SlotId> live_in_slots_;
  // Operands of lines that take any tensor, by their memory, and what they are known as otherwise:
  // while the call runs it is as such an operand that a tensor is known.
  struct Renamed {
    Tensor tensor;
    SlotId known;
    std::uint64_t session;
    std::int32_t id;
  };
  std::vector<Renamed> renamed_;
  // What the first call of a line had as its operand; null: others had another.
  std::unordered_map<std::uint64_t, const TensorImpl*> first_operands_;
  std::unordered_map<const Storage*, std::uint64_t> any_operands_;
  // Exposed memory of live-ins as it was at their first use.
  std::unordered_map<SlotId, std::vector<unsigned char>> contents_;
  std::unordered_map<const Storage*, std::int32_t> storage_index_;
  std::unordered_map<std::int32_t, std::uint64_t> exposed_after_;  // storages made here: which call
  std::vector<StoragePtr> replaced_storages_;
  // [storage] when it was first seen, and as the last call that wrote it left it: what another
  // thread writes between two calls is no part of them.
  std::vector<Versions> storage_versions_, versions_left_;
  Widened widened_;
  std::vector<Tensor> kept_;  // the widened ones: counted as held by the program
  static constexpr std::size_t kUsed = 16;
  std::array<SlotId, kUsed> used_;  // the last ones, a ring
  std::size_t uses_ = 0;
  struct Origin {
    TapeNodePtr node;
    std::uint32_t index = 0;
  };
  std::vector<Origin> histories_;  // [slot] of live-ins, when they were first seen
  std::vector<SlotId> stale_;  // live-ins of the call that is open whose history is not known yet
};

}  // namespace groove::tracer
