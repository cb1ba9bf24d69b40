#include "src/io/csv_fields.h"

#include <algorithm>

#include "src/core/check.h"

namespace groove::serialize {

void CsvRows::fail(std::size_t column, const std::string& what) const {
  throw_error(fmt::format("load_csv: {}: line {}, column {}: {}", file_, line_, column, what));
}

void CsvRows::skip_blanks() {
  while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
}

bool CsvRows::is_line_end() const {
  return at_ == text_.size() || text_[at_] == '\n' || text_.substr(at_, 2) == "\r\n" ||
         (text_[at_] == '\r' && at_ + 1 == text_.size());
}

std::string_view CsvRows::quoted_field(std::size_t column) {
  const std::size_t begin = ++at_;
  bool has_quotes = false;
  for (;; ++at_) {
    at_ = text_.find('"', at_);
    if (at_ == text_.npos) fail(column, "a quote is not closed");
    if (text_.substr(at_ + 1, 1) != "\"") break;
    has_quotes = true;
    ++at_;
  }
  std::string_view inside = text_.substr(begin, at_ - begin);
  ++at_;
  next_line_ += static_cast<std::size_t>(std::count(inside.begin(), inside.end(), '\n'));
  if (!has_quotes) return inside;
  std::string& text = unquoted_.emplace_back();
  for (std::size_t i = 0; i < inside.size(); ++i) {
    text += inside[i];
    i += inside[i] == '"' ? 1 : 0;
  }
  return text;
}

bool CsvRows::next(std::vector<std::string_view>& fields) {
  fields.clear();
  unquoted_.clear();
  skip_blanks();
  while (at_ < text_.size() && is_line_end()) {
    at_ = std::min(text_.find('\n', at_), text_.size() - 1) + 1;
    ++next_line_;
    skip_blanks();
  }
  if (at_ == text_.size()) return false;
  line_ = next_line_;
  for (;;) {
    const std::size_t column = fields.size() + 1;
    skip_blanks();
    if (at_ < text_.size() && text_[at_] == '"') {
      fields.push_back(quoted_field(column));
      skip_blanks();
      if (!is_line_end() && text_[at_] != delimiter_)
        fail(column, "text stands behind the closing quote");
    } else {
      const std::size_t begin = at_;
      while (at_ < text_.size() && text_[at_] != delimiter_ && text_[at_] != '\n' &&
             !(text_[at_] == '\r' && is_line_end()))
        ++at_;
      std::size_t end = at_;
      while (end > begin && is_blank(text_[end - 1])) --end;
      fields.push_back(text_.substr(begin, end - begin));
    }
    if (is_line_end()) break;
    ++at_;
  }
  at_ = std::min(text_.find('\n', at_), text_.size() - 1) + 1;
  ++next_line_;
  return true;
}

}  // namespace groove::serialize
