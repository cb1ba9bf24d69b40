#include <charconv>

#include "src/core/check.h"
#include "src/io/npy.h"

namespace groove::serialize {
namespace {

// Reads the few kinds of values that the dictionary has, character by character.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  NpyHeader parse() {
    expect('{');
    while (!take('}')) {
      const std::string_view key = string("a key");
      expect(':');
      if (key == "descr")
        once(has_dtype_, key), read_dtype();
      else if (key == "fortran_order")
        once(has_order_, key), read_order();
      else if (key == "shape")
        once(has_shape_, key), read_shape();
      else
        fail(fmt::format("has an unknown key '{}'", key));
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    skip_blanks();
    if (at_ != text_.size()) fail(fmt::format("goes on after its end at byte {}", at_));
    if (!has_dtype_ || !has_order_ || !has_shape_)
      fail("lacks one of 'descr', 'fortran_order' and 'shape'");
    return std::move(header_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw_error(
        fmt::format("load: {}: the header {}; the file is damaged, or no .npy file", file_, what));
  }
  void once(bool& has, std::string_view key) {
    if (has) fail(fmt::format("has '{}' twice", key));
    has = true;
  }
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool take(char wanted) {
    skip_blanks();
    const bool is_there = at_ < text_.size() && text_[at_] == wanted;
    at_ += is_there ? 1 : 0;
    return is_there;
  }
  void expect(char wanted) {
    if (!take(wanted)) fail(fmt::format("has no '{}' at byte {}", wanted, at_));
  }
  std::string_view string(const char* what) {
    skip_blanks();
    const char quote = at_ < text_.size() ? text_[at_] : ' ';
    const std::size_t end = quote == '\'' || quote == '"' ? text_.find(quote, at_ + 1) : text_.npos;
    if (end == text_.npos) fail(fmt::format("has no {} in quotes at byte {}", what, at_));
    const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return inside;
  }

  // '<f4': order of the bytes, kind, bytes of an element. Records are lists of such.
  void read_dtype() {
    constexpr std::size_t kShown = 60;
    skip_blanks();
    GROOVE_CHECK(at_ >= text_.size() || text_[at_] != '[',
                 "load: {}: has records of dtype {}…, which Groove has not; save one field alone",
                 file_, text_.substr(at_, kShown));
    const std::string_view text = string("dtype");
    const std::string_view order = "<>|=", kind = text.substr(text.empty() ? 0 : 1);
    if (text.empty() || order.find(text[0]) == order.npos)
      fail(fmt::format("has the dtype '{}'", text.substr(0, kShown)));
    for (const NpyDtype& known : kNpyDtypes)
      if (kind == known.text) header_.dtype = known.dtype;
    GROOVE_CHECK(header_.dtype != ScalarType::Undefined,
                 "load: {}: has dtype '{}', which Groove has not; save it as another one "
                 "(array.astype)",
                 file_, text.substr(0, kShown));
    header_.is_big_endian = text[0] == '>';
  }
  void read_order() {
    skip_blanks();
    const std::string_view rest = text_.substr(at_);
    header_.is_column_major = rest.substr(0, 4) == "True";
    if (!header_.is_column_major && rest.substr(0, 5) != "False")
      fail("has a fortran_order that is neither True nor False");
    at_ += header_.is_column_major ? 4 : 5;
  }
  void read_shape() {
    constexpr std::size_t kMostDims = 64;
    expect('(');
    while (!take(')')) {
      skip_blanks();
      std::uint64_t size = 0;
      const char* const begin = text_.data() + at_;
      const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), size);
      if (error != std::errc()) fail("has a shape that is no list of 64-bit numbers");
      at_ += static_cast<std::size_t>(end - begin);
      if (header_.shape.size() == kMostDims)
        fail(fmt::format("has a shape of more than {} dimensions", kMostDims));
      header_.shape.push_back(size);
      take('L');  // as Python 2 wrote it
      if (!take(',')) {
        expect(')');
        break;
      }
    }
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
  NpyHeader header_;
  bool has_dtype_ = false, has_order_ = false, has_shape_ = false;
};

}  // namespace

NpyHeader parse_npy_header(std::string_view text, const std::string& file) {
  return HeaderParser(text, file).parse();
}

}  // namespace groove::serialize
