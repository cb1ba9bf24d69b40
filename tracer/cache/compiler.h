// What the tracer asks of the compiler: a graph turned into something to run, stage by stage. The
// JIT registers the one Compiler there is.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "src/core/graph.h"

namespace groove {

namespace jit {
struct SegmentView;
}

struct ProgramContext {
  void* arena = nullptr;   // 64-byte aligned, Executable::arena_bytes() long, kept between stages
  std::int32_t stage = 0;  // which stage to run
  // The program is past the calls of this run: what host code throws can no longer be thrown there.
  bool is_replay = false;
  // Whose data lies ready at the start of the arena: an executable that finds its own mark need not
  // put it there again. 0 with an arena that anyone else may have written.
  std::uint64_t mark = 0;
  // Where the arena goes on behind Executable::kept_bytes(), 64-byte aligned; null: where it lies.
  // With another address the mark is 0.
  void* work = nullptr;
};

// buffers: first one pointer per graph input (element 0 of the live-in's geometry), then one per
// graph output that does not write an input (contiguous memory of the value's type). sizes: for
// programs at any sizes; null for static ones. scalars: one call per entry number, holding a
// double's bits or an int64 as Graph::numbers says. A status other than 0 means nothing was
// committed.
using ProgramEntry = std::int32_t (*)(const void* program, void* const* buffers,
                                      const std::int64_t* sizes, const std::uint64_t* scalars,
                                      ProgramContext* context);

// A number of a program that may follow from the sizes it was made for. Reals are given as the bits
// of a double, whatever they are stored as.
class ProgramNumber {
 public:
  // Room: more does no harm. Place: where something lies.
  enum class Kind : std::uint8_t { kInteger, kPlace, kRoom, kFloat, kDouble };
  /// `is_stale` is set with it.
  ProgramNumber(Kind kind, std::int64_t& at, std::int32_t stage, bool& is_stale)
      : kind_(kind), stage_(stage), at_(&at), is_stale_(&is_stale) {}
  ProgramNumber(Kind kind, std::uint64_t& at, std::int32_t stage, bool& is_stale)
      : ProgramNumber(kind, reinterpret_cast<std::int64_t&>(at), stage, is_stale) {}
  bool is_real() const { return kind_ == Kind::kFloat || kind_ == Kind::kDouble; }
  bool is_float() const { return kind_ == Kind::kFloat; }
  bool is_room() const { return kind_ == Kind::kRoom; }
  bool is_place() const { return kind_ == Kind::kPlace || is_room(); }  // addresses may follow
  /// The first stage that depends on it.
  std::int32_t stage() const { return stage_; }
  std::int64_t value() const;
  /// False: it is that already.
  bool set(std::int64_t value) const;

 private:
  Kind kind_;
  std::int32_t stage_;
  std::int64_t* at_;
  bool* is_stale_;
};

// Programs of one graph at other sizes that have the same structure differ in numbers alone.
struct ProgramNumbers {
  std::uint64_t structure = 0;
  std::vector<ProgramNumber> numbers;
};

// Which of them were set to other values.
struct NumbersSet {
  std::int32_t first_stage = std::numeric_limits<std::int32_t>::max();
  bool has_places = false;
  void add(const ProgramNumber& number) {
    first_stage = std::min(first_stage, number.stage());
    has_places |= number.is_place();
  }
};

class Executable {
 public:
  virtual ~Executable() = default;
  /// Called before each stage: what follows may depend on it until the next call. False when there
  /// is nothing to run yet, not after the first stage; throws when there will be nothing.
  virtual bool prepare() { return true; }
  virtual std::size_t arena_bytes() const = 0;
  /// Where in the arena the n-th output that does not write an input may lie, -1 for nowhere: its
  /// bytes there are no other's from the first stage that writes it to the end of the last.
  virtual std::int64_t output_place(std::size_t) const { return -1; }
  /// The first so many bytes of the arena stay as they are from run to run and from stage to stage;
  /// nothing in the others outlives a run, unless an output was given a place there.
  virtual std::size_t kept_bytes() const { return arena_bytes(); }
  /// Roughly what it holds besides the arenas: code, constants, what a launch needs.
  virtual std::size_t memory_bytes() const { return 0; }
  virtual std::int32_t run(void* const* buffers, const std::int64_t* sizes,
                           const std::uint64_t* scalars,
                           ProgramContext& context) const noexcept = 0;
  /// For explain(): launches, bytes moved, arena, a readable listing.
  virtual std::string describe() const = 0;
  /// Of one that compile_for_any_size() made: its numbers, for as long as it lives. False when its
  /// sizes are in more than numbers. After some were set to other values, settle() comes before the
  /// next run. It gives the stages from the first on that need not run again: all that they did is
  /// as it would be.
  virtual bool list_numbers(ProgramNumbers&) { return false; }
  virtual std::int32_t settle(const NumbersSet&) { return 0; }
  /// As the last prepare() found it: how many stages need not run again that ran before it?
  virtual std::int32_t kept_stages() const { return 0; }
  /// Would compile_fully() make a faster program of the same graph?
  virtual bool is_quick() const { return false; }
  /// Called once, after some runs, on the compile thread or the user's: may replace code by faster
  /// code that gives the same bits, also while other threads run it.
  virtual void promote() noexcept {}
  /// About how long that takes, or compile_fully().
  virtual double promotion_milliseconds() const { return 0; }
  /// About how long a run takes.
  virtual double expected_milliseconds() const { return 0; }
  /// Fills what a compiler knows about a segment: passes, groups, launches. `recorded` is the graph
  /// that this was made of.
  virtual void inspect(const Graph& recorded, jit::SegmentView& view) const;
};

class Compiler {
 public:
  virtual ~Compiler() = default;
  /// Called on the compile thread or, synchronously, on the user's. Throws groove::Error on what
  /// it cannot compile; the segment then stays eager. Equal graphs may be given one executable.
  virtual std::shared_ptr<Executable> compile(Graph graph) = 0;
  /// The same with all that takes long and serves this graph alone.
  virtual std::shared_ptr<Executable> compile_fully(Graph graph) {
    return compile(std::move(graph));
  }
  /// The same for one of many sizes: no code is made for these alone.
  virtual std::shared_ptr<Executable> compile_for_many_sizes(Graph graph) {
    return compile(std::move(graph));
  }
  /// The same, and not given out to anyone else: its numbers may be set. `like`, if not null, was
  /// made of the graph at other sizes: what went by cost there is done the same way. Null: there is
  /// none such.
  virtual std::shared_ptr<Executable> compile_for_any_size(Graph, const Executable* /*like*/) {
    return nullptr;
  }
  /// The same where results may differ from eager mode's bits (jit::Numerics::kFast).
  virtual std::shared_ptr<Executable> compile_fast(Graph graph) {
    return compile(std::move(graph));
  }
  /// What was compiled is not given out again.
  virtual void forget() {}
};

void register_compiler(Compiler& compiler);
Compiler* registered_compiler();  // null when none is linked

}  // namespace groove
