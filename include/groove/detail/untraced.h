// Work of the library that is not part of the user's loop (fetching a batch) stays out of traces.
#pragma once

namespace groove::detail {

class UntracedScope {
 public:
  UntracedScope();
  ~UntracedScope();
  UntracedScope(const UntracedScope&) = delete;
  UntracedScope& operator=(const UntracedScope&) = delete;
};

}  // namespace groove::detail
