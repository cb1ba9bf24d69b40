// One program for all sizes within bounds. It is found from programs for some of them: where these
// have one structure, every number in them is an expression in the sizes, and so is every size and
// stride that the recording has. A run sets the numbers and plans memory anew; nothing is compiled.
//
// What tells structures apart are comparisons of such expressions (an order of summation, a stride
// of 1, room in a cache), which change at most once as sizes grow. So the programs for the least
// and the greatest sizes bound those between; some of these are made and compared besides.
//
// A program that is made for a size of 1 has no loop over it, where one for any size has a loop of
// one turn. So no program tells that this one holds for 1, too: its numbers count elements, which
// the expressions go on giving, and the sizes and strides of the recording must be theirs there.
// That the program itself does the same where a size is 1 is for the segment to know.
#pragma once

#include <atomic>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tracer/cache/compiler.h"
#include "tracer/cache/size_fit.h"
#include "tracer/calls/segment.h"

namespace groove::tracer {

using SizeValues = std::vector<std::int64_t>;  // [symbol]

// A size or stride of a recording, and the slot that it belongs to, if any.
struct TypeNumber {
  Shape* of;
  std::uint32_t axis;
  SlotId slot;
  std::int64_t& value() const { return (*of)[axis]; }
};
/// Those that follow from what the program shows: of values, inputs and results.
std::vector<TypeNumber> type_numbers(Segment& segment);

class AnySize final : public Executable {
 public:
  struct Bounds {
    std::int64_t least, greatest;
  };
  /// Of symbols: those that may be 1 (a segment's), or are as the others where they are (here).
  using Ones = std::uint32_t;
  static constexpr std::size_t kMostSizes = 16;
  static constexpr Ones one(std::size_t symbol) { return Ones{1} << symbol; }
  static constexpr Ones kAll = ~Ones{0};
  static Ones changed(const SizeValues& before, const SizeValues& now);

  // A program, and the sizes and strides of its recording, at some sizes.
  struct Sample {
    SizeValues sizes, types;
    Graph graph;
    std::shared_ptr<Executable> program;  // null: the recording does not hold at these
    ProgramNumbers numbers;
  };
  /// `like`: the first program that was made, or null. May throw PutOff.
  using Make = std::function<Sample(const SizeValues&, const Executable* like)>;
  struct PutOff {};
  /// The sizes and strides of the recording where some sizes are 1, or kAny for a stride that tells
  /// nothing; none where it does not hold.
  static constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::min();
  using TypesAt = std::function<std::optional<SizeValues>(const SizeValues&)>;
  /// A search around `now`, within the widest bounds, and what it has found so far: one that was
  /// put off goes on with it.
  struct Search {
    SizeValues now;
    std::vector<Bounds> widest;
    std::vector<Sample> samples;
  };
  /// Within the widest bounds around `now` that have one structure. Throws groove::Error where
  /// there is no such program.
  AnySize(Search& search, const Make& make, const TypesAt& types_at);

  const Bounds& bounds(std::size_t symbol) const { return bounds_[symbol]; }
  bool covers(const SizeValues& sizes, Ones ones) const;
  bool covers(std::size_t symbol, std::int64_t size, Ones ones) const {
    const auto& [least, greatest] = bounds_[symbol];
    return (size >= least && size <= greatest) || (size == 1 && (ones & ones_ & one(symbol)) != 0);
  }

  /// A program that takes on sizes, for one thread.
  class Program {
   public:
    explicit Program(std::shared_ptr<const AnySize> of);
    const std::shared_ptr<const AnySize>& of() const { return of_; }
    /// Gives the stages that need not run again.
    std::int32_t take_on(const SizeValues& sizes);
    const std::shared_ptr<Executable>& executable() const { return executable_; }

   private:
    std::shared_ptr<const AnySize> of_;
    std::shared_ptr<Executable> executable_;
    ProgramNumbers numbers_;
    SizeValues sizes_;
  };

  /// Sets the sizes and strides of a recording, which is at sizes of which those `changed`;
  /// `are_others`: they may be such that this does not cover. False, with some of them set, where
  /// one before `first_slot` would change.
  bool set_types(const SizeValues& sizes, const std::vector<TypeNumber>& types, Ones changed,
                 bool are_others, SlotId first_slot) const;

  std::size_t arena_bytes() const override { return 0; }
  std::size_t memory_bytes() const override { return bytes_; }
  std::int32_t run(void* const*, const std::int64_t*, const std::uint64_t*,
                   ProgramContext&) const noexcept override {
    return 1;
  }
  std::string describe() const override;

 private:
  class Finder;
  // An expression, and what it gives: numbers of the recording's types and of the program.
  struct Moving {
    SizeExpression expression;
    Ones symbols = 0;
    std::vector<std::uint32_t> types, program;
  };
  void find_ones(const SizeValues& now, const TypesAt& types_at);

  std::vector<Bounds> bounds_;
  Ones ones_ = 0;
  SizeValues types_;  // at some sizes
  std::uint64_t structure_ = 0;
  std::vector<Moving> moving_;  // each expression once
  struct Room {
    std::uint32_t number;
    std::int64_t most;
  };
  std::vector<Room> rooms_;  // what the greatest needs
  std::shared_ptr<Executable> first_;
  std::size_t bytes_ = 0;  // of it, as it was made
  Graph graph_;            // that it was made of
  mutable std::atomic<bool> is_given_{false};
};

}  // namespace groove::tracer
