// A segment: one iteration of a loop as the tracer knows it. Words are what the program must call,
// slots are the tensor objects those calls touch, the graph is what they compute.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "src/core/autograd_meta.h"
#include "src/core/graph.h"
#include "tracer/compiler.h"
#include "tracer/reasons.h"

namespace groove::tracer {

// The states of tracer.md §2. A thread's context is Watching, Recording or Replaying; a segment is
// Compiling, Armed or Retired.
enum class State : std::uint8_t { kWatching, kRecording, kCompiling, kArmed, kReplaying, kRetired };

using SlotId = std::int32_t;
inline constexpr SlotId kNoSlot = -1;

// A tensor object that takes part: a live-in that existed before, or something a word produced.
struct Slot {
  bool is_live_in = false;
  Type type;
  Shape strides;
  bool requires_grad = false;
  bool is_leaf = true;
  SlotId parent = kNoSlot;       // views: whose storage this is
  std::int32_t view_word = -1;   // views: the word that made it
  std::int32_t storage = -1;     // which StorageInfo
  bool is_user_visible = false;  // made by a word itself, not inside an expansion
  Tensor recorded;               // live-ins that must be this very object (library state)
  std::uint32_t recorded_epoch = 0;
  SlotId grad_of = kNoSlot;  // live-ins that are `.grad` of that leaf, whichever object it is
};

// A storage that takes part: of a live-in, or made inside. `versions` counts writes.
struct StorageInfo {
  SlotId base = kNoSlot;  // the slot whose geometry covers it
  bool is_live_in = false;
  bool is_exposed = false;  // made inside, and a raw pointer to it was handed out
  std::uint32_t writes = 0;
  std::int32_t output = -1;        // place in Graph::outputs of its final content
  std::int32_t early_output = -1;  // … of its content at a host read before the end
};

struct GradEffect {
  SlotId leaf;
  SlotId grad;             // kNoSlot: becomes undefined
  bool expects_undefined;  // the gradient had to be undefined before
};

// A call inside a big word, kept so that the word can be run again without the library's object.
struct NestedCall {
  const Op* op = nullptr;
  Attrs attrs;
  std::vector<SlotId> inputs, outputs;
  std::vector<NumberRef> numbers;
  bool is_inplace = false;
};

struct Word {
  const Op* op = nullptr;
  Attrs attrs;
  SiteKey site{};
  Site place;
  bool is_big = false;
  bool is_inplace = false;
  bool grad_enabled = false;
  bool ends_step = false;
  std::vector<SlotId> inputs;  // kNoSlot: undefined
  std::vector<SlotId> outputs;
  std::vector<bool> output_is_new;
  std::int32_t first_number = 0;  // its numbers among the segment's
  std::vector<ScalarType> number_kinds;
  std::vector<std::pair<std::int32_t, std::uint64_t>> fixed_numbers;  // (index, bits): structure
  bool has_settled_position = false;  // a view's numbers, taken for constants until they move
  std::vector<SlotId> nested_live_ins;
  std::vector<GradEffect> effects;
  std::vector<NestedCall> nested;
  std::vector<SlotId> written_live_ins;  // live-in slots whose storage this word writes
  std::uint64_t tape_nodes = 0;          // positions on the tape that it takes
  const void* object = nullptr;
  std::uint64_t epoch = 0;
};

// Work that must be real after word `after` has matched: a host read of `slot`.
struct StageEnd {
  std::int32_t after;  // number of words matched
  SlotId slot;
  std::int32_t stage;
};

struct Statistics {
  std::uint64_t hits = 0, leaves = 0;
  std::uint64_t left_at_reason[static_cast<int>(Reason::kCount)] = {};
  double compile_milliseconds = 0;
};

struct Segment {
  std::uint64_t head = 0;  // hash of the first word
  std::uint64_t id = 0;
  std::vector<Word> words;
  std::vector<Slot> slots;
  std::vector<StorageInfo> storages;
  std::vector<SlotId> live_ins;  // in the order of Graph::inputs
  std::vector<StageEnd> stage_ends;
  std::vector<ScalarType> number_kinds;
  std::vector<std::int32_t> output_storages;  // storages with a buffer of their own, in order
  std::int32_t stages = 1;
  Graph graph;                                 // until it is handed to the compiler
  std::vector<std::int32_t> output_buffer_of;  // [graph output] buffer place or -1 (writes input)
  std::string place;                           // "file:line" of the head

  std::atomic<State> state{State::kCompiling};
  std::unique_ptr<Executable> executable;  // set before `state` becomes kArmed
  std::string failure;                     // when compilation failed
  Statistics statistics;
  int consecutive_leaves = 0;
};
using SegmentPtr = std::shared_ptr<Segment>;

}  // namespace groove::tracer
