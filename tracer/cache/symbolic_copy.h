// A context's own copy of a symbolic segment's recording, which takes on the sizes of each run.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tracer/cache/symbolic_segment.h"

namespace groove::tracer {

// One context's copy of a symbolic segment's recording, at the sizes of the run at hand.
class SymbolicCopy {
 public:
  explicit SymbolicCopy(SymbolicSegmentPtr symbolic);
  ~SymbolicCopy();
  SymbolicCopy(const SymbolicCopy&) = delete;
  SymbolicCopy& operator=(const SymbolicCopy&) = delete;

  const SymbolicSegmentPtr& symbolic() const { return symbolic_; }
  const SegmentPtr& segment() const { return segment_; }
  const SizeNumbers& numbers() const { return numbers_; }
  const std::vector<TypeNumber>& types() const { return types_; }
  const SizeValues& sizes() const { return *sizes_; }

  /// Takes on other sizes. False, with nothing changed, when the recording does not hold at them;
  /// what calls before `first_call` gave must not change.
  bool resize(const SizeValues& sizes, std::size_t first_call);
  /// The sizes and strides that follow where some sizes are 1 which are more in the recording; none
  /// if it does not hold there. The copy takes on these sizes, and no others may be run at them.
  std::optional<SizeValues> types_with_ones(const SizeValues& sizes);
  /// The sizes when call `at` shows these numbers; false when it cannot.
  bool sizes_shown(std::size_t at, const SizeValues& shown, SizeValues& sizes) const;

 private:
  bool take_on(const SizeValues& sizes, std::size_t first_slot);
  void set_numbers(const SizeValues& sizes);
  bool derive_all_types(std::size_t first_slot, bool takes_ones = false);

  SymbolicSegmentPtr symbolic_;
  SegmentPtr segment_;
  std::shared_ptr<HistoryPlan> history_;  // null, or the one whose numbers are set
  SizeNumbers numbers_;
  std::shared_ptr<SizeValues> sizes_;  // shared with the executable
  std::vector<TypeNumber> types_;
  std::shared_ptr<const AnySize> any_size_;  // that the last sizes were covered by
};

/// Can a symbolic segment be made of such a recording? Empty, or why not.
std::string why_sizes_are_fixed(const Segment& segment);

}  // namespace groove::tracer
