// Which call of the user an error belongs to. Errors are thrown where a rule is checked, by
// kernels and type rules that know neither the line nor the name that the user wrote: `matmul`
// throws in `mm`, `max` in `amax`. A call that is not one op opens a frame; the dispatcher knows
// the ops' own names and lines.
#pragma once

#include "groove/detail/site.h"
#include "groove/error.h"

namespace groove {

class CallFrame;
inline constinit thread_local const CallFrame* innermost_frame = nullptr;

// A call for as long as it runs. Its name is that of the function which opens it.
class CallFrame {
 public:
  explicit CallFrame(const Site& site, const char* name = __builtin_FUNCTION())
      : site_(site), name_(name), outer_(innermost_frame) {
    innermost_frame = this;
  }
  ~CallFrame() { innermost_frame = outer_; }
  CallFrame(const CallFrame&) = delete;
  CallFrame& operator=(const CallFrame&) = delete;

 private:
  friend class ErrorPlace;
  Site site_;
  const char* name_;  // null: what runs inside has better ones
  const CallFrame* outer_;
};

/// Gives the error the place of the innermost line that a user wrote and the name of the outermost
/// call in that line. An error that has one from further in keeps it.
void place_error(Error& error);
/// The same, seen from a call inside all open frames.
void place_error(Error& error, const Site& site, const char* name);

}  // namespace groove
