#include "src/io/csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "groove/ops/views.h"
#include "src/core/check.h"
#include "src/core/half.h"
#include "src/core/input_file.h"
#include "src/core/state.h"
#include "src/core/tensor_impl.h"
#include "src/io/csv_fields.h"

namespace groove::serialize {
namespace {

enum class Parsed { kNumber, kNoNumber, kOutOfRange };

template <typename T>
Parsed parse_as(std::string_view text, T& value) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (stop != end || error == std::errc::invalid_argument) return Parsed::kNoNumber;
  return error == std::errc() ? Parsed::kNumber : Parsed::kOutOfRange;
}

// What is too small for the type is 0 or subnormal, what is too large has no value.
template <typename T>
Parsed parse_real(std::string_view text, T& value) {
  const Parsed parsed = parse_as(text, value);
  if (std::isnan(value)) value = std::numeric_limits<T>::quiet_NaN();  // of either sign
  if (parsed != Parsed::kOutOfRange) return parsed;
  long double wide = 0;
  if (parse_as(text, wide) != Parsed::kNumber || std::abs(wide) > 1) return parsed;
  value = static_cast<T>(wide);
  return Parsed::kNumber;
}

template <typename T>
Parsed parse(std::string_view text, T& value) {
  if (text == "true" || text == "True" || text == "TRUE" || text == "false" || text == "False" ||
      text == "FALSE") {
    value = static_cast<T>(static_cast<float>(text[0] == 't' || text[0] == 'T'));
    return Parsed::kNumber;
  }
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    return parse_real(text, value);
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    float wide = 0;
    const Parsed parsed = parse_real(text, wide);
    value = T(wide);
    const bool overflows = std::isfinite(wide) && !std::isfinite(static_cast<float>(value));
    return parsed == Parsed::kNumber && overflows ? Parsed::kOutOfRange : parsed;
  } else if constexpr (std::is_same_v<T, bool>) {
    int number = 0;
    const Parsed parsed = parse_as(text, number);
    value = number == 1;
    return parsed == Parsed::kNumber && number != 0 && number != 1 ? Parsed::kOutOfRange : parsed;
  } else {
    return parse_as(text, value);
  }
}

bool is_missing(std::string_view text, const CsvOptions& options) {
  return text.empty() || std::find(options.missing().begin(), options.missing().end(), text) !=
                             options.missing().end();
}

class Table {
 public:
  Table(std::string_view bytes, const std::string& file, const CsvOptions& options)
      : rows_(bytes, options.delimiter(), file), file_(file), options_(options) {}

  template <typename T>
  CsvTable read() {
    begin();
    std::vector<std::conditional_t<std::is_same_v<T, bool>, char, T>> values;
    std::size_t count = 0;
    for (; has_row_; has_row_ = rows_.next(fields_), ++count) {
      if (fields_.size() != width_)
        rows_.fail(fields_.size(),
                   fmt::format("the row ends here, but the first one has {} fields", width_));
      for (const std::size_t place : places_) values.push_back(number<T>(place));
    }
    const Shape sizes{static_cast<std::int64_t>(count), static_cast<std::int64_t>(places_.size())};
    CsvTable table{make_empty(sizes, dtype_of<T>), std::move(names_)};
    if (!values.empty())
      std::memcpy(table.values.impl()->data(), values.data(), values.size() * sizeof(T));
    note_given(sizes, false);
    return table;
  }

 private:
  // Looks at the first row: how many columns there are, what they are called, which are wanted.
  void begin() {
    has_row_ = rows_.next(fields_);
    width_ = fields_.size();
    const bool has_header = has_row_ && options_.header().value_or(begins_with_names());
    if (has_header) {
      for (const std::string_view field : fields_) names_.emplace_back(field);
      has_row_ = rows_.next(fields_);
    }
    for (std::size_t i = 0; i < width_ && options_.columns().empty(); ++i) places_.push_back(i);
    GROOVE_CHECK(options_.columns().empty() || has_header,
                 "load_csv: {}: columns are asked for by name, but there is no row of names",
                 file_);
    for (const std::string& wanted : options_.columns()) {
      const auto found = std::find(names_.begin(), names_.end(), wanted);
      GROOVE_CHECK(found != names_.end(), "load_csv: {}: has no column '{}'", file_, wanted);
      places_.push_back(static_cast<std::size_t>(found - names_.begin()));
    }
    if (!options_.columns().empty()) names_ = options_.columns();
  }
  bool begins_with_names() const {
    return std::any_of(fields_.begin(), fields_.end(), [&](std::string_view field) {
      double ignored = 0;
      return !is_missing(field, options_) && parse(field, ignored) == Parsed::kNoNumber;
    });
  }

  template <typename T>
  T number(std::size_t place) const {
    const std::string_view text = trimmed(fields_[place]);
    T value{};
    if (!text.empty()) {
      const Parsed parsed = parse(text, value);
      if (parsed == Parsed::kNumber) return value;
      if (parsed == Parsed::kOutOfRange)
        rows_.fail(place + 1,
                   fmt::format("{} is out of the range of {}", shown(text), name(dtype_of<T>)));
    }
    if (!is_missing(text, options_))
      rows_.fail(place + 1,
                 fmt::format("'{}' is no number of dtype {}", shown(text), name(dtype_of<T>)));
    if constexpr (is_floating(dtype_of<T>)) {
      return T(std::numeric_limits<float>::quiet_NaN());
    } else {
      rows_.fail(place + 1, fmt::format("there is no value, and {} has no NaN", name(dtype_of<T>)));
    }
  }
  // Quotes may have blanks inside.
  static std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
  }
  static std::string_view shown(std::string_view text) { return text.substr(0, 60); }

  CsvRows rows_;
  const std::string& file_;
  const CsvOptions& options_;
  std::vector<std::string_view> fields_;
  bool has_row_ = false;
  std::size_t width_ = 0;
  std::vector<std::size_t> places_;  // of the wanted columns
  std::vector<std::string> names_;
};

}  // namespace

CsvTable read_csv(std::string_view bytes, const std::string& file, const CsvOptions& options) {
  const char delimiter = options.delimiter();
  GROOVE_CHECK(delimiter != '"' && delimiter != '\n' && delimiter != '\r',
               "load_csv: quotes and ends of lines cannot be the delimiter");
  if (bytes.starts_with("\xef\xbb\xbf")) bytes.remove_prefix(3);  // the mark of UTF-8
  Table table(bytes, file, options);
  const ScalarType dtype = options.dtype().value_or(get_default_dtype());
  switch (dtype) {
    case kDouble:
      return table.read<double>();
    case kFloat:
      return table.read<float>();
    case kHalf:
      return table.read<Half>();
    case kBFloat16:
      return table.read<BFloat16>();
    case kLong:
      return table.read<std::int64_t>();
    case kInt:
      return table.read<std::int32_t>();
    case kShort:
      return table.read<std::int16_t>();
    case kChar:
      return table.read<std::int8_t>();
    case kByte:
      return table.read<std::uint8_t>();
    case kBool:
      return table.read<bool>();
    default:
      throw_error(fmt::format("load_csv: Groove does not compute with dtype {}", name(dtype)));
  }
}

}  // namespace groove::serialize

namespace groove {

Tensor CsvTable::column(const std::string& name, Site site) const {
  const CallFrame frame(site);
  const auto found = std::find(names.begin(), names.end(), name);
  GROOVE_CHECK(found != names.end(), "column: the table has no column '{}'", name);
  return select(values, 1, found - names.begin());
}

CsvTable load_csv(const std::string& path, const CsvOptions& options, Site site) {
  const CallFrame frame(site);
  return serialize::read_csv(bytes_of_file(path), path, options);
}

}  // namespace groove
