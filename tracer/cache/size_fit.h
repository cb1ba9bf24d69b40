// Numbers of a loop as expressions in a few sizes, found from recordings at different sizes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tracer/calls/size_numbers.h"

namespace groove::tracer {

// constant + a sum of products of symbols with whole factors; for reals a function of that.
struct SizeExpression {
  enum class Form : std::uint8_t { kInteger, kReal, kReciprocal, kRoot, kReciprocalRoot };
  struct Term {
    std::int64_t factor = 0;
    std::array<std::int16_t, 3> symbols = {-1, -1, -1};
  };
  Form form = Form::kInteger;
  std::int64_t constant = 0;
  double scale = 1;  // of a real
  std::vector<Term> terms;

  bool is_constant() const { return terms.empty(); }
  /// What the number is when the symbols have these values: an integer or the bits of a double.
  std::int64_t value(const std::vector<std::int64_t>& symbols) const;
  /// Symbol i is `names[i]` from now on.
  void rename(const std::vector<std::int16_t>& names);
  std::string text(const std::vector<std::string>& names) const;
};

struct SizeFit {
  std::vector<SizeExpression> expressions;  // [number]
  std::vector<std::size_t> symbols;         // the numbers that are symbols, in order
  /// Empty, or why there is no fit; more recordings may give one.
  std::string failure;
};

/// `samples` are the values of `numbers` in recordings of one structure. A number that the program
/// shows and that follows from no other one is a symbol; one inside must follow from those.
SizeFit fit_sizes(const SizeNumbers& numbers,
                  const std::vector<std::vector<std::int64_t>>& samples);

/// The same for what was made at given sizes, `sizes` being the values of the symbols: [sample] of
/// each number in `rows`. None for a number that follows from no size, or in more than one way.
struct SizedRow {
  enum class Kind : std::uint8_t { kInteger, kDouble, kFloat };  // float: bits of one as a double
  Kind kind = Kind::kInteger;
  std::vector<std::int64_t> values;
  bool operator==(const SizedRow&) const = default;
  struct Hash {
    std::size_t operator()(const SizedRow& row) const;
  };
};
std::vector<std::optional<SizeExpression>> fit_rows(
    const std::vector<std::vector<std::int64_t>>& sizes, const std::vector<SizedRow>& rows);

}  // namespace groove::tracer
