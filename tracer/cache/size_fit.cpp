// Expressions are tried from the simplest on. One with p free factors must hold in more than p
// recordings, so that at least one of them confirms it. What the program shows is compared at every
// match besides; a number inside is not, so it must follow from the sizes in one way only: as long
// as two of the expressions hold that differ elsewhere, more recordings must tell them apart.
#include "tracer/cache/size_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>
#include <unordered_map>

#include "src/core/hash.h"

namespace groove::tracer {
namespace {

using Row = std::vector<std::int64_t>;  // [sample]
using Term = SizeExpression::Term;
using Form = SizeExpression::Form;
using Kind = SizedRow::Kind;

// Far from any overflow of products of three.
constexpr std::int64_t kMost = std::int64_t{1} << 40;

bool is_small(const Row& row) {
  return std::all_of(row.begin(), row.end(),
                     [](std::int64_t value) { return value > -kMost && value < kMost; });
}

bool has_three_values(const Row& row) {
  const auto is_other = [&row](std::int64_t value) { return value != row[0]; };
  const auto second = std::find_if(row.begin(), row.end(), is_other);
  return std::any_of(second, row.end(),
                     [&](std::int64_t value) { return is_other(value) && value != *second; });
}

// Products of up to three symbols.
struct Monomial {
  std::array<std::int16_t, 3> symbols;
  Row values;
  bool has_three = false;  // different values
};

class Fitter {
 public:
  explicit Fitter(const std::vector<Row>& samples) : samples_(samples) {}

  std::vector<std::optional<SizeExpression>> run(const std::vector<SizedRow>& rows) {
    Row sizes;
    for (std::size_t i = 0; i < samples_[0].size(); ++i) {
      take_values_of(i, sizes);
      add_symbol(i, sizes);
    }
    std::vector<std::optional<SizeExpression>> found;
    bool is_ambiguous = false;
    for (const SizedRow& row : rows) found.push_back(only_of(row, is_ambiguous));
    return found;
  }
  SizeFit run(const SizeNumbers& numbers) {
    result_.expressions.resize(numbers.numbers.size());
    SizedRow sized;
    const Row& row = sized.values;
    for (std::size_t i = 0; i < numbers.numbers.size(); ++i) {
      const bool is_shown = i < numbers.shown.back();
      const SizeNumber& number = numbers.numbers[i];
      sized.kind = number.is_real() ? Kind::kDouble : Kind::kInteger;
      take_values_of(i, sized.values);
      bool is_ambiguous = false;
      std::optional<SizeExpression> found =
          is_shown || number.may_be_anything ? first_of(sized) : only_of(sized, is_ambiguous);
      if (!found && is_shown && !number.is_real() && is_small(row)) {
        found = fit_polynomial(row, 1);
        if (!found && may_be_sum(row)) {
          result_.failure = fmt::format("number {} may be a size or a sum of some", i);
          return std::move(result_);
        }
        if (!found) {
          add_symbol(i, row);
          found = fit(row);
        }
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
        result_.failure =
            fmt::format("number {} of {} follows from {}:{}", i, numbers.numbers.size(),
                        is_ambiguous ? "sizes in more than one way" : "no size", values);
        return std::move(result_);
      }
      result_.expressions[i] = std::move(*found);
    }
    return std::move(result_);
  }

 private:
  void take_values_of(std::size_t number, Row& row) const {
    row.clear();
    for (const Row& sample : samples_) row.push_back(sample[number]);
  }
  static bool is_same(const Row& row) {
    return std::all_of(row.begin(), row.end(),
                       [&row](std::int64_t value) { return value == row[0]; });
  }

  // The products that the new symbol takes part in, by degree.
  void add_symbol(std::size_t number, const Row& row) {
    const auto id = static_cast<std::int16_t>(result_.symbols.size());
    result_.symbols.push_back(number);
    distinct_ = distinct_sizes();
    first_.clear();
    std::vector<Monomial> fresh[3];
    fresh[0].push_back({{id, -1, -1}, row, has_three_values(row)});
    const auto times = [](const Monomial& a, const Monomial& b, std::size_t degree) {
      Monomial product = a;
      product.symbols[degree] = b.symbols[0];
      for (std::size_t i = 0; i < product.values.size(); ++i) product.values[i] *= b.values[i];
      product.has_three = has_three_values(product.values);
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

  static std::optional<SizeExpression> first_found(const auto& each) {
    std::optional<SizeExpression> first;
    each([&](SizeExpression found) {
      first = std::move(found);
      return true;
    });
    return first;
  }
  std::optional<SizeExpression> fit(const Row& row) const {
    return first_found([&](const auto& is_enough) { each_fit(row, is_enough); });
  }
  std::optional<SizeExpression> first_of(const SizedRow& row) {
    const auto [known, is_new] = first_.try_emplace(row);
    if (is_new)
      known->second =
          row.kind == Kind::kInteger ? fit(row.values) : first_found([&](const auto& is_enough) {
            each_real_fit(row, is_enough, Fits{*this});
          });
    return known->second;
  }
  // None when expressions that differ at other sizes hold as well.
  std::optional<SizeExpression> only_of(const SizedRow& row, bool& is_ambiguous) {
    is_ambiguous = false;
    if (const auto known = only_.find(row); known != only_.end()) return known->second;
    std::optional<SizeExpression> only;
    const auto differs = [&](const SizeExpression& found) {
      if (!only) only = found;
      is_ambiguous = !is_same_function(*only, found);
      return is_ambiguous;
    };
    const auto each = [&](const auto& fits) {
      if (row.kind == Kind::kInteger)
        fits(row.values, differs);
      else
        each_real_fit(row, differs, fits);
    };
    each(Fits{*this});
    // Two recordings confirm no line; but what goes through them may be one.
    if (only && !only->is_constant() && !is_ambiguous && distinct_ < 3) each(Lines{*this});
    if (is_ambiguous) return std::nullopt;
    if (!only) each(Polynomials{*this});
    return only_[row] = only;
  }
  // Compared where products of different symbols have different values.
  bool is_same_function(const SizeExpression& a, const SizeExpression& b) const {
    std::vector<std::int64_t> symbols(result_.symbols.size());
    std::int64_t next = 17;
    for (int probe = 0; probe < 6; ++probe) {
      for (std::int64_t& symbol : symbols) {
        symbol = 2 + next % 1009;
        next = (next * 48271 + 11) % 2147483647;
      }
      if (a.value(symbols) != b.value(symbols)) return false;
    }
    return true;
  }

  struct Fits {
    const Fitter& fitter;
    bool operator()(const Row& row, const auto& is_enough) const {
      return fitter.each_fit(row, is_enough);
    }
  };
  struct Lines {
    const Fitter& fitter;
    bool operator()(const Row& row, const auto& is_enough) const {
      return fitter.each_line(row, is_enough);
    }
  };
  struct Polynomials {
    const Fitter& fitter;
    bool operator()(const Row& row, const auto& is_enough) const {
      for (int degree = 1; degree <= 2; ++degree)
        if (auto found = fitter.fit_polynomial(row, degree); found && is_enough(std::move(*found)))
          return true;
      return false;
    }
  };

  // Calls is_enough(expression) for those that hold, until one is.
  template <typename Enough>
  bool each_fit(const Row& row, const Enough& is_enough) const {
    if (is_same(row)) {
      SizeExpression expression;
      expression.constant = row[0];
      if (is_enough(std::move(expression))) return true;
    }
    for (const auto& of_degree : monomials_)
      for (const Monomial& of : of_degree)
        if (of.values == row && is_enough(one_term(1, of, 0))) return true;
    if (samples_.size() < 2 || !is_small(row)) return false;
    for (const auto& of_degree : monomials_)
      for (const Monomial& of : of_degree)
        if (auto found = fit_scaled(row, of); found && is_enough(std::move(*found))) return true;
    for (const Monomial& of : monomials_[0])
      if (auto found = fit_shifted(row, of); found && is_enough(std::move(*found))) return true;
    if (samples_.size() < 3) return false;
    for (const auto& of_degree : monomials_)
      for (const Monomial& of : of_degree)
        if (auto found = fit_affine(row, of); found && is_enough(std::move(*found))) return true;
    for (std::size_t a = 0; a < monomials_[0].size(); ++a)
      for (std::size_t b = 0; b < a; ++b)
        if (auto found = fit_sum(row, monomials_[0][b], monomials_[0][a]);
            found && is_enough(std::move(*found)))
          return true;
    return false;
  }

  // Of one symbol, through the first recordings that tell, confirmed or not.
  template <typename Enough>
  bool each_line(const Row& row, const Enough& is_enough) const {
    if (!is_small(row)) return false;
    for (const Monomial& of : monomials_[0]) {
      const std::optional<SizeExpression> line = line_through(row, of);
      if (line && is_enough(*line)) return true;
    }
    return false;
  }

  static std::optional<SizeExpression> fit_scaled(const Row& row, const Monomial& of) {
    std::size_t telling = 0;  // a product of zero tells nothing of its factor
    while (telling < row.size() && of.values[telling] == 0) ++telling;
    if (telling == row.size() || row[telling] % of.values[telling] != 0) return std::nullopt;
    const std::int64_t factor = row[telling] / of.values[telling];
    for (std::size_t i = 0; i < row.size(); ++i)
      if (row[i] != factor * of.values[i]) return std::nullopt;
    return one_term(factor, of, 0);
  }
  static std::optional<SizeExpression> fit_shifted(const Row& row, const Monomial& of) {
    for (std::size_t i = 0; i < row.size(); ++i)
      if (row[i] - of.values[i] != row[0] - of.values[0]) return std::nullopt;
    return one_term(1, of, row[0] - of.values[0]);
  }
  // Two different values of the symbol give the line …
  static std::optional<SizeExpression> line_through(const Row& row, const Monomial& of) {
    std::size_t other = 1;
    while (other < row.size() && of.values[other] == of.values[0]) ++other;
    if (other >= row.size()) return std::nullopt;
    const std::int64_t run = of.values[other] - of.values[0], rise = row[other] - row[0];
    if (rise % run != 0) return std::nullopt;
    const std::int64_t factor = rise / run, constant = row[0] - factor * of.values[0];
    for (std::size_t i = 0; i < row.size(); ++i)
      if (row[i] != factor * of.values[i] + constant) return std::nullopt;
    return one_term(factor, of, constant);
  }
  // … a third one confirms it.
  static std::optional<SizeExpression> fit_affine(const Row& row, const Monomial& of) {
    return of.has_three ? line_through(row, of) : std::nullopt;
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
      // The same two sizes again confirm nothing, whatever others were.
      const auto is_as_in = [&](std::size_t i, std::size_t other) {
        return first.values[i] == first.values[other] && second.values[i] == second.values[other];
      };
      bool is_confirmed = false;
      for (std::size_t i = 0; i < row.size(); ++i) {
        if (row[i] !=
            sum.terms[0].factor * first.values[i] + sum.terms[1].factor * second.values[i])
          return std::nullopt;
        is_confirmed |= !is_as_in(i, 0) && !is_as_in(i, j);
      }
      return is_confirmed ? std::optional(sum) : std::nullopt;
    }
    return std::nullopt;
  }

  // The same sizes again confirm nothing.
  std::size_t distinct_sizes() const {
    std::set<Row> sizes;
    for (const Row& sample : samples_) {
      Row own;
      for (const std::size_t symbol : result_.symbols) own.push_back(sample[symbol]);
      sizes.insert(std::move(own));
    }
    return sizes.size();
  }

  // A sum of all symbols, as the rows of many pieces together are, or of all products of up to two,
  // as (n - 1)² is, where one more recording than it has factors confirms it: no other such sum
  // goes through them.
  std::optional<SizeExpression> fit_polynomial(const Row& row, int most_degree) const {
    std::vector<const Monomial*> products;
    for (int degree = 0; degree < most_degree; ++degree)
      for (const Monomial& each : monomials_[degree]) products.push_back(&each);
    const std::size_t unknown = products.size() + 1;
    if (distinct_ <= unknown || !is_small(row)) return std::nullopt;
    std::vector<std::vector<double>> lines;  // the factors' coefficients, then the sum
    for (std::size_t sample = 0; sample < row.size(); ++sample) {
      std::vector<double> line{1};
      for (const Monomial* each : products)
        line.push_back(static_cast<double>(each->values[sample]));
      line.push_back(static_cast<double>(row[sample]));
      lines.push_back(std::move(line));
    }
    for (std::size_t column = 0; column < unknown; ++column) {
      const auto pivot = std::max_element(lines.begin() + static_cast<std::ptrdiff_t>(column),
                                          lines.end(), [column](const auto& a, const auto& b) {
                                            return std::fabs(a[column]) < std::fabs(b[column]);
                                          });
      if (std::fabs((*pivot)[column]) < 1e-6) return std::nullopt;  // too few different sizes
      std::swap(*pivot, lines[column]);
      for (std::size_t other = 0; other < lines.size(); ++other) {
        if (other == column) continue;
        const double factor = lines[other][column] / lines[column][column];
        for (std::size_t i = column; i <= unknown; ++i)
          lines[other][i] -= factor * lines[column][i];
      }
    }
    SizeExpression sum;
    for (std::size_t i = 0; i < unknown; ++i) {
      const std::int64_t factor = std::llround(lines[i][unknown] / lines[i][i]);
      if (i == 0)
        sum.constant = factor;
      else if (factor != 0)
        sum.terms.push_back({factor, products[i - 1]->symbols});
    }
    // Whole factors that give all of them: rounding has done no harm.
    return gives(sum, {Kind::kInteger, row}) ? std::optional(sum) : std::nullopt;
  }

  // Are there too few recordings to tell it from a sum of some sizes and a constant?
  bool may_be_sum(const Row& row) const {
    constexpr std::size_t kMostSymbols = 12;  // of which all choices are tried
    const std::vector<Monomial>& sizes = monomials_[0];
    if (sizes.size() < 2 || sizes.size() > kMostSymbols || distinct_ > sizes.size() + 1)
      return false;
    const auto is_sum_of = [&](std::size_t chosen) {
      for (std::size_t sample = 1; sample < row.size(); ++sample) {
        std::int64_t left = row[sample] - row[0];
        for (std::size_t i = 0; i < sizes.size(); ++i)
          if (chosen >> i & 1) left -= sizes[i].values[sample] - sizes[i].values[0];
        if (left != 0) return false;
      }
      return true;
    };
    for (std::size_t chosen = 1; chosen < std::size_t{1} << sizes.size(); ++chosen)
      if (is_sum_of(chosen)) return true;
    return false;
  }

  static SizeExpression constant_real(std::int64_t bits) {
    SizeExpression expression;
    expression.form = Form::kReal;
    expression.scale = std::bit_cast<double>(bits);
    expression.constant = 1;
    return expression;
  }

  // A mean divides by a count, a scale by a root of one.
  template <typename Enough, typename Fits>
  bool each_real_fit(const SizedRow& sized, const Enough& is_enough, const Fits& fits) const {
    const Row& row = sized.values;
    if (is_same(row) && is_enough(constant_real(row[0]))) return true;
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
        const bool is_done = fits(counts, [&](SizeExpression found) {
          if (found.is_constant()) return false;
          found.form = form;
          found.scale = scale;
          return gives(found, sized) && is_enough(std::move(found));
        });
        if (is_done) return true;
      }
    return false;
  }
  bool gives(const SizeExpression& expression, const SizedRow& row) const {
    const auto rounded = [&](std::int64_t bits) {
      if (row.kind != Kind::kFloat) return bits;
      const auto value = static_cast<float>(std::bit_cast<double>(bits));
      return std::bit_cast<std::int64_t>(static_cast<double>(value));
    };
    std::vector<std::int64_t> symbols(result_.symbols.size());
    for (std::size_t sample = 0; sample < row.values.size(); ++sample) {
      for (std::size_t i = 0; i < symbols.size(); ++i)
        symbols[i] = samples_[sample][result_.symbols[i]];
      if (rounded(expression.value(symbols)) != rounded(row.values[sample])) return false;
    }
    return true;
  }

  const std::vector<Row>& samples_;
  SizeFit result_;
  std::size_t distinct_ = 1;            // of the symbols' sizes in the samples
  std::vector<Monomial> monomials_[3];  // by degree
  // By row: many numbers have the same one.
  std::unordered_map<SizedRow, std::optional<SizeExpression>, SizedRow::Hash> first_, only_;
};

}  // namespace

std::size_t SizedRow::Hash::operator()(const SizedRow& row) const {
  return mixed_all(static_cast<std::uint64_t>(row.kind), row.values);
}

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

void SizeExpression::rename(const std::vector<std::int16_t>& names) {
  for (Term& term : terms)
    for (std::int16_t& symbol : term.symbols)
      if (symbol >= 0) symbol = names[static_cast<std::size_t>(symbol)];
}

SizeFit fit_sizes(const SizeNumbers& numbers,
                  const std::vector<std::vector<std::int64_t>>& samples) {
  return Fitter(samples).run(numbers);
}

std::vector<std::optional<SizeExpression>> fit_rows(
    const std::vector<std::vector<std::int64_t>>& sizes, const std::vector<SizedRow>& rows) {
  return Fitter(sizes).run(rows);
}

}  // namespace groove::tracer
