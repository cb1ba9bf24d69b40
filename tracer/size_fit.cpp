// Expressions are tried from the simplest on. One with p free factors must hold in more than p
// recordings, so that at least one of them confirms it; what the program shows is compared at every
// match besides.
#include "tracer/size_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace groove::tracer {
namespace {

using Row = std::vector<std::int64_t>;  // [sample]
using Term = SizeExpression::Term;
using Form = SizeExpression::Form;

// Far from any overflow of products of three.
constexpr std::int64_t kMost = std::int64_t{1} << 40;

bool is_small(const Row& row) {
  return std::all_of(row.begin(), row.end(),
                     [](std::int64_t value) { return value > -kMost && value < kMost; });
}

// Products of up to three symbols.
struct Monomial {
  std::array<std::int16_t, 3> symbols;
  Row values;
};

class Fitter {
 public:
  Fitter(const SizeNumbers& numbers, const std::vector<Row>& samples)
      : numbers_(numbers), samples_(samples) {}

  SizeFit run() {
    result_.expressions.resize(numbers_.numbers.size());
    for (std::size_t i = 0; i < numbers_.numbers.size(); ++i) {
      const bool is_shown = i < numbers_.shown.back();
      const SizeNumber& number = numbers_.numbers[i];
      const Row row = values_of(i);
      std::optional<SizeExpression> found = number.is_real() ? fit_real(row) : fit(row);
      if (!found && is_shown && !number.is_real() && is_small(row)) {
        add_symbol(i, row);
        found = fit(row);
      }
      if (!found && number.may_be_anything) {
        found = SizeExpression{};
        found->constant = row.back();
        if (number.is_real()) found = constant_real(row.back());
      }
      if (!found) {
        std::string values;
        for (const std::int64_t value : row)
          values += number.is_real() ? fmt::format(" {}", std::bit_cast<double>(value))
                                     : fmt::format(" {}", value);
        result_.failure = fmt::format("number {} of {} follows from no size:{}", i,
                                      numbers_.numbers.size(), values);
        return std::move(result_);
      }
      result_.expressions[i] = std::move(*found);
    }
    return std::move(result_);
  }

 private:
  Row values_of(std::size_t number) const {
    Row row;
    for (const Row& sample : samples_) row.push_back(sample[number]);
    return row;
  }
  static bool is_same(const Row& row) {
    return std::all_of(row.begin(), row.end(),
                       [&row](std::int64_t value) { return value == row[0]; });
  }

  // The products that the new symbol takes part in, by degree.
  void add_symbol(std::size_t number, const Row& row) {
    const auto id = static_cast<std::int16_t>(result_.symbols.size());
    result_.symbols.push_back(number);
    std::vector<Monomial> fresh[3];
    fresh[0].push_back({{id, -1, -1}, row});
    const auto times = [](const Monomial& a, const Monomial& b, std::size_t degree) {
      Monomial product = a;
      product.symbols[degree] = b.symbols[0];
      for (std::size_t i = 0; i < product.values.size(); ++i) product.values[i] *= b.values[i];
      return product;
    };
    monomials_[0].push_back(fresh[0][0]);
    if (is_large(row)) return;
    for (const Monomial& other : monomials_[0]) fresh[1].push_back(times(other, fresh[0][0], 1));
    for (const Monomial& other : fresh[1])
      for (const Monomial& third : monomials_[0])
        if (third.symbols[0] <= other.symbols[0]) fresh[2].push_back(times(other, third, 2));
    for (std::size_t degree = 1; degree < 3; ++degree)
      monomials_[degree].insert(monomials_[degree].end(), fresh[degree].begin(),
                                fresh[degree].end());
  }
  static bool is_large(const Row& row) {
    return std::any_of(row.begin(), row.end(), [](std::int64_t value) { return value >= 1 << 20; });
  }

  static SizeExpression one_term(std::int64_t factor, const Monomial& of, std::int64_t constant) {
    SizeExpression expression;
    expression.constant = constant;
    expression.terms.push_back({factor, of.symbols});
    return expression;
  }

  std::optional<SizeExpression> fit(const Row& row) const {
    if (is_same(row)) {
      SizeExpression expression;
      expression.constant = row[0];
      return expression;
    }
    for (const auto& of_degree : monomials_)
      for (const Monomial& of : of_degree)
        if (of.values == row) return one_term(1, of, 0);
    if (samples_.size() < 2 || !is_small(row)) return std::nullopt;
    for (const auto& of_degree : monomials_)
      for (const Monomial& of : of_degree)
        if (const auto found = fit_scaled(row, of)) return found;
    for (const Monomial& of : monomials_[0])
      if (const auto found = fit_shifted(row, of)) return found;
    if (samples_.size() < 3) return std::nullopt;
    for (const auto& of_degree : monomials_)
      for (const Monomial& of : of_degree)
        if (const auto found = fit_affine(row, of)) return found;
    for (std::size_t a = 0; a < monomials_[0].size(); ++a)
      for (std::size_t b = 0; b < a; ++b)
        if (const auto found = fit_sum(row, monomials_[0][b], monomials_[0][a])) return found;
    return std::nullopt;
  }

  static std::optional<SizeExpression> fit_scaled(const Row& row, const Monomial& of) {
    if (of.values[0] == 0 || row[0] % of.values[0] != 0) return std::nullopt;
    const std::int64_t factor = row[0] / of.values[0];
    for (std::size_t i = 0; i < row.size(); ++i)
      if (row[i] != factor * of.values[i]) return std::nullopt;
    return one_term(factor, of, 0);
  }
  static std::optional<SizeExpression> fit_shifted(const Row& row, const Monomial& of) {
    for (std::size_t i = 0; i < row.size(); ++i)
      if (row[i] - of.values[i] != row[0] - of.values[0]) return std::nullopt;
    return one_term(1, of, row[0] - of.values[0]);
  }
  // Two different values of the symbol give the line, a third one confirms it.
  static std::optional<SizeExpression> fit_affine(const Row& row, const Monomial& of) {
    std::size_t other = 1;
    while (other < row.size() && of.values[other] == of.values[0]) ++other;
    if (other == row.size()) return std::nullopt;
    const std::int64_t run = of.values[other] - of.values[0], rise = row[other] - row[0];
    if (rise % run != 0) return std::nullopt;
    const std::int64_t factor = rise / run, constant = row[0] - factor * of.values[0];
    bool is_confirmed = false;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (row[i] != factor * of.values[i] + constant) return std::nullopt;
      is_confirmed |= of.values[i] != of.values[0] && of.values[i] != of.values[other];
    }
    if (!is_confirmed) return std::nullopt;
    return one_term(factor, of, constant);
  }
  // a * first + b * second with factors of one sign, by the first two recordings that tell.
  std::optional<SizeExpression> fit_sum(const Row& row, const Monomial& first,
                                        const Monomial& second) const {
    for (std::size_t j = 1; j < row.size(); ++j) {
      const std::int64_t determinant =
          first.values[0] * second.values[j] - first.values[j] * second.values[0];
      if (determinant == 0) continue;
      const std::int64_t a = row[0] * second.values[j] - row[j] * second.values[0];
      const std::int64_t b = first.values[0] * row[j] - first.values[j] * row[0];
      if (a % determinant != 0 || b % determinant != 0) return std::nullopt;
      SizeExpression sum = one_term(a / determinant, first, 0);
      sum.terms.push_back({b / determinant, second.symbols});
      for (std::size_t i = 0; i < row.size(); ++i)
        if (row[i] != sum.terms[0].factor * first.values[i] +
                          sum.terms[1].factor * second.values[i])
          return std::nullopt;
      return sum;
    }
    return std::nullopt;
  }

  static SizeExpression constant_real(std::int64_t bits) {
    SizeExpression expression;
    expression.form = Form::kReal;
    expression.scale = std::bit_cast<double>(bits);
    expression.constant = 1;
    return expression;
  }

  // A mean divides by a count, a scale by a root of one.
  std::optional<SizeExpression> fit_real(const Row& row) const {
    if (is_same(row)) return constant_real(row[0]);
    for (const Form form : {Form::kReal, Form::kReciprocal, Form::kRoot, Form::kReciprocalRoot})
      for (const double scale : {1.0, -1.0, 2.0, -2.0}) {
        Row counts;
        for (const std::int64_t bits : row) {
          const double value = std::bit_cast<double>(bits) / scale;
          const double count = form == Form::kReal         ? value
                               : form == Form::kReciprocal ? 1 / value
                               : form == Form::kRoot       ? value * value
                                                           : 1 / (value * value);
          if (!(count > 0 && count < 1e12)) break;
          counts.push_back(std::llround(count));
        }
        if (counts.size() != row.size()) continue;
        std::optional<SizeExpression> found = fit(counts);
        if (!found || found->is_constant()) continue;
        found->form = form;
        found->scale = scale;
        const auto holds = [&](std::size_t sample) {
          std::vector<std::int64_t> symbols;
          for (const std::size_t symbol : result_.symbols)
            symbols.push_back(samples_[sample][symbol]);
          return found->value(symbols) == row[sample];
        };
        bool is_exact = true;
        for (std::size_t i = 0; i < row.size(); ++i) is_exact &= holds(i);
        if (is_exact) return found;
      }
    return std::nullopt;
  }

  const SizeNumbers& numbers_;
  const std::vector<Row>& samples_;
  SizeFit result_;
  std::vector<Monomial> monomials_[3];  // by degree
};

}  // namespace

std::int64_t SizeExpression::value(const std::vector<std::int64_t>& symbols) const {
  auto total = static_cast<std::uint64_t>(constant);  // wraps for sizes that no memory has
  for (const Term& term : terms) {
    auto product = static_cast<std::uint64_t>(term.factor);
    for (const std::int16_t symbol : term.symbols)
      if (symbol >= 0)
        product *= static_cast<std::uint64_t>(symbols[static_cast<std::size_t>(symbol)]);
    total += product;
  }
  const auto sum = static_cast<std::int64_t>(total);
  const auto count = static_cast<double>(sum);
  switch (form) {
    case Form::kInteger:
      return sum;
    case Form::kReal:
      return std::bit_cast<std::int64_t>(scale * count);
    case Form::kReciprocal:
      return std::bit_cast<std::int64_t>(scale / count);
    case Form::kRoot:
      return std::bit_cast<std::int64_t>(scale * std::sqrt(count));
    case Form::kReciprocalRoot:
      return std::bit_cast<std::int64_t>(scale / std::sqrt(count));
  }
  return 0;
}

std::string SizeExpression::text(const std::vector<std::string>& names) const {
  std::string sum;
  for (const Term& term : terms) {
    sum += sum.empty() ? "" : " + ";
    if (term.factor != 1) sum += fmt::format("{} ", term.factor);
    for (const std::int16_t symbol : term.symbols)
      if (symbol >= 0) sum += names[static_cast<std::size_t>(symbol)];
  }
  if (constant != 0 || sum.empty()) sum += fmt::format("{}{}", sum.empty() ? "" : " + ", constant);
  switch (form) {
    case Form::kInteger:
      return sum;
    case Form::kReal:
      return fmt::format("{} * ({})", scale, sum);
    case Form::kReciprocal:
      return fmt::format("{} / ({})", scale, sum);
    case Form::kRoot:
      return fmt::format("{} * sqrt({})", scale, sum);
    case Form::kReciprocalRoot:
      return fmt::format("{} / sqrt({})", scale, sum);
  }
  return sum;
}

SizeFit fit_sizes(const SizeNumbers& numbers,
                  const std::vector<std::vector<std::int64_t>>& samples) {
  return Fitter(numbers, samples).run();
}

}  // namespace groove::tracer
