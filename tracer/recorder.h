// Records one iteration of a loop while it runs eagerly: words and slots for the matcher, and the
// functional graph for the compiler. A storage has a current value; reading a view derives it from
// that value, writing through a view makes a new value of the whole.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "tracer/segment.h"

namespace groove::tracer {

class Recorder {
 public:
  // Words whose views were seen to move: what they start at is a run-time number. Others are taken
  // for constants.
  struct Moving {
    bool are_all = false;
    std::vector<std::size_t> words = {};
    bool contains(std::size_t word) const {
      return are_all || std::find(words.begin(), words.end(), word) != words.end();
    }
  };

  Recorder(std::uint64_t head, std::uint64_t session, Moving moving);

  std::uint64_t session() const { return session_; }
  /// Set when this iteration cannot become a segment.
  std::optional<Reason> failure() const { return failure_; }
  void fail(Reason reason);
  std::size_t words() const { return segment_->words.size(); }
  /// "file:line" of the first word.
  std::string place() const;

  // A word that is one op: open before it runs, close with its results.
  void open(const Call& call, const SiteKey& site);
  void close(const Call& call, Tensor* outputs);
  // A word whose expansion is recorded: a big word, or a composite that the tape sees through.
  void open_expansion(const Call& call, const SiteKey& site);
  void open_expansion(const BigWord& word, const SiteKey& site);
  void close_expansion(const Call* call, Tensor* outputs);
  // A call inside an expansion.
  void open_nested(const Call& call);
  void close_nested(const Call& call, Tensor* outputs);

  /// The numbers of the word just opened, knowing which of the segment's numbers they are.
  std::vector<Scalar> tagged(ArrayRef<Scalar> numbers) const;
  /// Host code looked at the value of such a number: it is structure from now on.
  void number_was_read(int origin);

  /// A copy that the tape made, below the recording, of what an operand holds now.
  void note_copy(const Tensor& original, const Tensor& copy);

  void set_grad(TensorImpl& leaf, const Tensor& grad);
  /// The program looked at this tensor now.
  void host_read(TensorImpl& impl);
  /// A raw pointer to its memory was handed out: what later words read of it may be anything.
  void expose(TensorImpl& impl);

  /// Results that escaped a replay of an earlier recording: (word, output); always outputs now.
  using Widened = std::vector<std::pair<std::int32_t, std::int32_t>>;
  /// The segment, with outputs found from what the program still holds; null when it failed.
  SegmentPtr finish(const Widened& widened);

 private:
  struct Cached {
    ValueId value = kNoValue;
    std::uint32_t writes = 0;
    bool is_fresh = false;  // a live-in that was first seen inside an expansion
  };
  struct Prepared {  // of the call that runs now
    std::vector<SlotId> inputs;
    std::vector<ValueId> values;
  };

  SlotId slot_of(const Tensor& tensor);
  SlotId add_slot(TensorImpl& impl);
  void note_nested_live_in(SlotId id, const Tensor& tensor);
  ValueId read(SlotId slot);
  void write(SlotId slot, ValueId value);
  std::optional<Geometry> geometry_in_base(SlotId slot);
  Prepared prepare(const Call& call);
  void record_results(const Call& call, const Prepared& prepared, Tensor* outputs,
                      std::vector<NumberRef> numbers, std::vector<SlotId>& output_slots,
                      std::vector<bool>* output_is_new);
  void fill_word(Word& word, const Op& op, const Attrs& attrs, ArrayRef<Scalar> numbers,
                 const SiteKey& site, Site place);
  NumberRef number_ref(const Scalar& number);
  void add_stage_end(SlotId slot);
  bool is_held(SlotId slot) const;
  void add_outputs();
  void name_values();
  Word& word() { return segment_->words.back(); }

  std::uint64_t session_;
  Moving moving_;
  SegmentPtr segment_;
  std::optional<Reason> failure_;
  bool in_expansion_ = false;
  std::uint64_t sequence_at_open_ = 0;
  std::vector<Prepared> open_;                 // calls that are running now
  std::vector<Tensor> objects_;                // [slot]; keeps addresses unique while recording
  std::vector<std::uint64_t> segment_values_;  // [number] as recorded
  std::vector<Cached> cached_;                 // [slot]
  std::vector<ValueId> storage_value_;         // [storage]
  std::vector<StoragePtr> storage_objects_;    // [storage]
};

}  // namespace groove::tracer
