// A segment: one iteration of a loop as the tracer knows it. Calls are what the program must call,
// slots are the tensor objects those calls touch, the graph is what they compute.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/core/autograd_meta.h"
#include "src/core/dispatch.h"
#include "src/core/grad_mode.h"
#include "src/core/graph.h"
#include "src/core/hash.h"
#include "tracer/cache/compiler.h"
#include "tracer/calls/history.h"
#include "tracer/calls/reasons.h"
#include "tracer/calls/stretch.h"
#include "tracer/watch/backoff.h"
#include "tracer/watch/discovery.h"
#include "tracer/watch/segment_profile.h"

namespace groove::tracer {

// The states of tracer.md §2. A thread's context is Watching, Recording or Replaying; a segment is
// Compiling, Armed or Retired.
enum class State : std::uint8_t { kWatching, kRecording, kCompiling, kArmed, kReplaying, kRetired };

using SlotId = std::int32_t;
inline constexpr SlotId kNoSlot = -1;

// A tensor object that takes part: a live-in that existed before, or something a call produced.
struct Slot {
  bool is_live_in = false;
  Type type;
  Shape strides;
  bool requires_grad = false;
  bool is_leaf = true;
  bool requires_by_base = false;  // requires_grad_by_base(): a live-in, or a view made inside
  SlotId parent = kNoSlot;        // views: whose storage this is
  std::int32_t view_call = -1;    // views: the call that made it
  bool holds_base = false;        // views: the tape keeps what they are a view of
  std::int32_t storage = -1;      // which StorageInfo
  bool counts_apart = false;      // TensorImpl::counts_apart
  bool is_user_visible = false;   // made by a call itself, not inside an expansion
  bool is_held = false;           // by the program, when the recording ended
  // Live-ins: a view whose base was written, of which the first call that reads it derives the
  // history anew; the rest says what it is then.
  bool derives_history = false;
  std::uint32_t hooks = 0;   // live-ins: how many gradient hooks hang on it
  SlotId grad_of = kNoSlot;  // live-ins that are `.grad` of that leaf, whichever object it is
  SlotId same_as = kNoSlot;  // live-ins that are the object of that slot, with other content …
  SlotId again = kNoSlot;    // … or as the program has written it meanwhile: the first of them
  bool is_walked = false;    // live-ins that library calls find by themselves: parameters, state
};

// A storage that takes part: of a live-in, or made inside.
struct StorageInfo {
  SlotId base = kNoSlot;  // the slot whose geometry covers it
  bool is_live_in = false;
  bool is_exposed = false;  // made inside, and a raw pointer to it was handed out
  // A call reads or writes what another one made: the program must not change it in between.
  bool is_used = true;
  // Of what existed before, the first call that writes it.
  std::int32_t first_write = std::numeric_limits<std::int32_t>::max();
  std::uint32_t writes = 0;
  std::uint32_t unnoticed = 0;  // of them, those that Storage::unnoticed counts
  std::uint32_t versions() const { return writes - unnoticed; }
  bool gains_history = false;      // by one of them, which had none when it was first seen
  std::int32_t output = -1;        // index in Graph::outputs of its final content
  std::int32_t early_output = -1;  // … of its content at a host read before the end
};

// A leaf's `.grad`; kNoSlot: undefined.
struct LeafGrad {
  SlotId leaf;
  SlotId grad;
  bool operator==(const LeafGrad&) const = default;
};

// A hook that hangs on a leaf when a backward stops there: whichever object it is.
struct LeafHook {
  SlotId leaf = kNoSlot;
  std::int32_t index = 0;  // among those that hang there
  bool operator==(const LeafHook&) const = default;
};

// `requires_grad` of an operand of a library call, changed by it: of a leaf, as the program says;
// of what a custom function puts on the tape, which is no leaf from then on.
struct FlagEffect {
  SlotId slot;
  bool before, after;
  bool gets_history;
  bool operator==(const FlagEffect&) const = default;
};

/// Names an operator's calls at one place of the program, whatever their order there.
inline std::uint64_t line_of(const Op& op, const SiteKey& site) {
  return mixed(
      mixed(static_cast<std::uint64_t>(op.id), reinterpret_cast<std::uintptr_t>(site.file)),
      std::uint64_t{site.line} << 32 | site.column);
}

/// What a line takes: the tensors that it had in the recording, any that existed before, any of
/// them or of what the iteration has made; or it matters which they are, as they are written too.
enum class Operands : std::uint8_t { kAsRecorded, kAny, kAnyOrMade, kWritten };
inline bool take_any(Operands operands) {
  return operands == Operands::kAny || operands == Operands::kAnyOrMade;
}

/// Does the tape keep what the call is given? A backward finds it there by the object.
inline bool is_on_tape(const Call& call) {
  const auto needs = [](const Tensor& input) {
    return input.defined() && input.impl()->requires_grad;
  };
  return groove::detail::is_grad_recorded &&
         std::any_of(call.inputs.begin(), call.inputs.end(), needs);
}

// A call inside a library call, kept so that the call can be run again without the library's
// object.
struct NestedCall {
  const Op* op = nullptr;
  Attrs attrs;
  std::vector<SlotId> inputs, outputs;
  std::vector<NumberRef> numbers;
  bool is_inplace = false;
};

// A value that an operator's check need not look at: its producers keep it within what is allowed,
// at least with these numbers of the segment.
struct CheckedValue {
  ValueId value = kNoValue;
  std::vector<std::pair<std::int32_t, std::uint64_t>> numbers;  // (index, call)
};

struct RecordedCall {
  std::uint64_t hash = 0;  // as discovery knows it
  const Op* op = nullptr;
  Attrs attrs;
  SiteKey site{};
  Site source = Site::none();
  bool is_library_call = false;
  bool is_inplace = false;
  bool grad_enabled = false;
  bool ends_step = false;
  std::int32_t first_slot = 0;  // slots that were known before it
  std::vector<SlotId> inputs;   // kNoSlot: undefined
  std::vector<SlotId> outputs;
  std::vector<bool> output_is_new;
  bool gives_new(std::size_t k) const { return outputs[k] != kNoSlot && output_is_new[k]; }
  std::int32_t first_number = 0;  // its numbers among the segment's
  std::vector<ScalarType> number_kinds;
  std::vector<std::pair<std::int32_t, std::uint64_t>> fixed_numbers;  // (index, bits): structure
  // Each operand that existed before is an input by itself, whatever else is the same tensor.
  bool takes_any_operands = false;
  bool has_settled_position = false;  // a view's numbers, taken for constants until they move
  std::vector<SlotId> nested_live_ins;
  std::vector<std::int32_t> nested_places;  // … and which of those that it walks each is, or -1
  // Of those that it walks, which are results of earlier calls.
  std::vector<std::pair<std::int32_t, SlotId>> walked_results;
  std::vector<SlotId> read_live_ins;   // whose memory its expansion reads
  std::vector<LeafGrad> grads_before;  // that its expansion walks, as they must be
  std::vector<LeafGrad> effects;       // … and what it leaves
  std::vector<FlagEffect> flags;
  CodeRole code_role = CodeRole::kNone;
  std::int32_t stops_at = -1;  // where a backward stops: the call that attached the code …
  LeafHook stops_at_hook;      // … or a hook of a live-in; it is called with the call's outputs
  bool releases_code = false;  // the saved values of the code that it resumes after are used up
  std::vector<NestedCall> nested;
  std::vector<SlotId> written_live_ins;  // live-in slots whose storage this call writes
  // Of a call that runs in place: (written, read) slots of one memory that must not overlap partly.
  std::vector<std::pair<SlotId, SlotId>> apart;
  CheckedValue checked;
  std::uint64_t tape_nodes = 0;  // positions on the tape that it takes
  std::uint32_t operators = 0;   // that launch a kernel, its expansion included
  std::size_t walked = 0;        // tensors, see LibraryCall
  std::uint64_t structure = 0;
  std::vector<std::pair<std::int32_t, std::int32_t>> twins;  // of them, later ones that are earlier
};

/// Does the call hang a hook on a leaf, its first input, or take one off?
inline bool changes_hooks(const RecordedCall& call) {
  return call.code_role == CodeRole::kHangs || call.code_role == CodeRole::kTakesOff;
}

// Work that must be real after call `after` has matched: a host read of `slot`.
struct StageEnd {
  std::int32_t after;  // number of calls matched
  SlotId slot;
  std::int32_t stage;
};

// A view that the program still holds, or one on its way from the base, as the tape knows it.
struct TrackedView {
  SlotId slot = kNoSlot;
  std::uint32_t writes_since = 0;  // of the storage, after the tape derived the view's history
  bool with_grad = true;           // made while gradients were recorded
};

struct Statistics {  // of all threads
  std::atomic<std::uint64_t> hits{0}, leaves{0};
  std::atomic<std::uint64_t> left_at_reason[static_cast<int>(Reason::kCount)] = {};
  std::atomic<double> compile_milliseconds{0};
};

// All that a recording says.
struct SegmentContent {
  /// All calls, from this one on and round to it.
  Stretch calls_from(std::size_t first) const {
    Stretch stretch;
    for (std::size_t i = 0; i < calls.size(); ++i)
      stretch.append(calls[(first + i) % calls.size()].hash);
    return stretch;
  }
  /// Stretch::order of all calls.
  std::uint64_t order_of_calls() const { return calls_from(0).order; }
  /// Does the head come once in an iteration? Then its coming again is the iteration's end.
  bool has_single_head() const {
    return std::count_if(calls.begin(), calls.end(),
                         [this](const RecordedCall& call) { return call.hash == head; }) == 1;
  }

  std::uint64_t head = 0;    // hash of the first call
  std::uint64_t before = 0;  // of the call that must come before it; 0 for any
  std::uint64_t id = 0;
  Discovery::Kind kind = Discovery::Kind::kStep;  // how its loop was found …
  std::size_t expected = 0;                       // … and how many calls it had
  bool covers_runs = false;                       // … of which others ran compiled already
  std::shared_ptr<LoopRecord> loop = std::make_shared<LoopRecord>();
  std::vector<RecordedCall> calls;
  // Names what lies before each call, and after the last: segments that begin with the same calls
  // have the same numbers there (see paths.h).
  std::vector<std::uint64_t> path;
  std::vector<Slot> slots;
  std::vector<StorageInfo> storages;
  std::vector<SlotId> live_ins;  // in the order of Graph::inputs
  std::vector<StageEnd> stage_ends;
  std::vector<ScalarType> number_kinds;
  std::vector<std::int32_t> output_storages;  // storages with a buffer of their own, in order
  std::int32_t stages = 1;
  Graph graph;  // until it is handed to the compiler
  std::vector<std::int32_t>
      output_buffer_of;                  // [graph output] index of a buffer or -1 (writes input)
  std::string source;                    // "file:line" of the head
  std::shared_ptr<HistoryPlan> history;  // null: no result has a live one
  std::vector<std::vector<TrackedView>> tracked_views;  // each way from a base to a held view
  UsedUpPlanPtr used_up;                                // null: no result's is used up
  std::vector<ValueId> slot_values;                     // [slot] a value of its type
};

struct Segment : SegmentContent {
  // What is told of a copy that takes on other sizes (symbolic_segment.h) is told of this one.
  std::shared_ptr<Segment> original;
  std::atomic<State> state{State::kCompiling};
  bool is_armed() const { return state.load(std::memory_order_acquire) == State::kArmed; }
  std::function<void(Graph&)> make_graph;  // null, or what makes `graph` where it is compiled
  // Null, or what is made instead of a program for the graph as it is; what has that has no calls.
  std::function<std::shared_ptr<Executable>(Compiler&, Segment&)> make_executable;
  std::shared_ptr<Executable> executable;   // set before `state` becomes kArmed
  std::string failure;                      // when compilation failed
  std::atomic<const char*> end{"retired"};  // why it is Retired, for people
  Statistics statistics;
  std::atomic<int> missed{0};  // runs that another segment had to finish, since its own last one
  Backoff backoff;             // of its own runs
  /// Was it recorded in place of smaller ones that ran compiled, and has never gone through?
  bool is_in_vain() const { return covers_runs && statistics.hits == 0 && statistics.leaves > 0; }
  std::atomic<bool> is_promoted{false};
  std::atomic<bool> is_let_go{false};  // compiled it was slower than eager mode
  std::int64_t advanced = 0;           // of the investment, until it is compiled
  // Which thread's tracer recorded it, and after how many calls that was done.
  std::uint64_t recorded_by = 0, recorded_at = 0;
  std::atomic<float> recent_runs{1};  // its worth: runs, of which old ones count less
  SegmentProfile profile;
};
using SegmentPtr = std::shared_ptr<Segment>;

/// Bytes from element 0 to the end of the last element; strides of live-ins are not negative.
inline std::size_t span_bytes(const TensorImpl& impl) {
  if (impl.numel == 0) return 0;
  std::int64_t last = 0;
  for (std::size_t i = 0; i < impl.geometry.sizes.size(); ++i)
    last += (impl.geometry.sizes[i] - 1) * impl.geometry.strides[i];
  return static_cast<std::size_t>(last + 1) * element_size(impl.dtype);
}

// Foreign code may look at memory that Groove gave it a pointer to as long as there is the storage,
// whatever Groove has written since. What such memory held when a run read it is kept. That costs
// more than it gives for large ones: a call that reads or writes one is not put off.
inline bool is_too_large_to_keep(const TensorImpl& impl) {
  constexpr std::size_t kMostKept = 16 << 20;  // bytes
  return span_bytes(impl) > kMostKept;
}

}  // namespace groove::tracer
