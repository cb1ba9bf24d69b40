// Text cut into rows of fields.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace groove::serialize {

class CsvRows {
 public:
  CsvRows(std::string_view text, char delimiter, const std::string& file)
      : text_(text), delimiter_(delimiter), file_(file) {}
  /// The fields of the next row that is not empty, without quotes and the blanks around them; false
  /// at the end. They are valid until the next call. Throws groove::Error for quotes that are not
  /// closed or have more text behind them.
  bool next(std::vector<std::string_view>& fields);
  /// Where the row begins that next() gave, from 1 on.
  std::size_t line() const { return line_; }
  [[noreturn]] void fail(std::size_t column, const std::string& what) const;

 private:
  std::string_view quoted_field(std::size_t column);
  bool is_blank(char c) const { return (c == ' ' || c == '\t') && c != delimiter_; }
  void skip_blanks();
  bool is_line_end() const;

  std::string_view text_;
  char delimiter_;
  const std::string& file_;
  std::size_t at_ = 0, line_ = 0, next_line_ = 1;
  std::deque<std::string> unquoted_;  // fields of this row that had quotes inside
};

}  // namespace groove::serialize
