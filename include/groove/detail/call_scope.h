// Ops inside a library call take the user's place in the source: open a scope for its time.
#pragma once

#include "groove/detail/tensor_base.h"

namespace groove::detail {

class CallScope {
 public:
  /// With a name, errors inside are told of that function.
  explicit CallScope(const Site& site, const char* name = nullptr);
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

 private:
  alignas(8) unsigned char scope_[32];  // a core SiteScope
};

// The same for errors alone: the ops inside keep their own places.
class CallPlace {
 public:
  explicit CallPlace(const Site& site, const char* name = nullptr);
  ~CallPlace();
  CallPlace(const CallPlace&) = delete;
  CallPlace& operator=(const CallPlace&) = delete;

 private:
  alignas(8) unsigned char frame_[24];  // a core CallFrame
};

}  // namespace groove::detail
