#include "src/core/call_frame.h"

#include <cctype>
#include <cstring>
#include <string_view>

namespace groove {
namespace {

// Library code has places too: they tell a user nothing.
bool is_user_place(const Site& site) {
  const std::string_view file = site.file_name(), own = __FILE__, tail = "src/core/call_frame.cpp";
  if (file.empty() || file.find("include/groove/") != file.npos) return false;
  if (!own.ends_with(tail)) return true;
  const std::string_view root = own.substr(0, own.size() - tail.size());
  if (!file.starts_with(root)) return true;
  const std::string_view below = file.substr(root.size());
  for (const std::string_view folder :
       {"src/", "kernels/", "eager/", "tracer/", "autodiff/", "jit/"})
    if (below.starts_with(folder)) return false;
  return true;
}

// As the user writes it: `+` for operator+, Conv2d for the class behind the holder. Empty for what
// names nothing: lambdas, and forward(), whose class or function says more.
std::string_view shown(const char* name) {
  if (!name) return {};
  std::string_view text = name;
  if (text.starts_with("operator") && text.size() > 8 && !std::isalnum(text[8]) && text[8] != '_')
    text.remove_prefix(8);
  if (text.ends_with("Impl")) text.remove_suffix(4);
  return text == "()" || text == "forward" ? std::string_view() : text;
}

}  // namespace

class ErrorPlace {
 public:
  explicit ErrorPlace(Error& error) : error_(error) {}
  ~ErrorPlace() { write(); }

  void add_open_frames() {
    for (const CallFrame* frame = innermost_frame; frame && !error_.is_settled_;
         frame = frame->outer_)
      add(frame->site_, frame->name_, frame);
  }
  void add(const Site& site, const char* name, const void* frame) {
    if (error_.is_settled_ || !is_user_place(site)) return;
    if (!error_.file_) {
      error_.file_ = site.file_name();
      error_.line_ = site.line();
      error_.column_ = site.column();
      error_.frame_ = frame;
    } else if (error_.line_ != site.line() || error_.column_ != site.column() ||
               std::strcmp(error_.file_, site.file_name()) != 0) {
      error_.is_settled_ = true;
      return;
    }
    if (!shown(name).empty()) rename(shown(name));
  }
  // A frame that is still open lies further out than a call whose end is seen now.
  void forget_open_frames() {
    for (const CallFrame* frame = innermost_frame; frame; frame = frame->outer_)
      if (error_.frame_ == frame) {
        error_.file_ = nullptr;
        error_.is_settled_ = false;
      }
  }

 private:
  // Messages begin with the name of what failed; those that do not, or with a variable of the
  // environment, are of no call.
  void rename(std::string_view name) {
    std::string& message = error_.message_;
    const std::size_t colon = message.find(": ");
    if (colon < message.find(' ') && !message.starts_with("GROOVE_"))
      message.replace(0, colon, name);
  }
  void write() {
    if (!error_.file_) return;
    error_.text_ = error_.message_ + "\n  at " + error_.file_ + ":" + std::to_string(error_.line_);
  }

  Error& error_;
};

void place_error(Error& error) { ErrorPlace(error).add_open_frames(); }

void place_error(Error& error, const Site& site, const char* name) {
  ErrorPlace place(error);
  place.forget_open_frames();
  place.add(site, name, nullptr);
  place.add_open_frames();
}

}  // namespace groove
