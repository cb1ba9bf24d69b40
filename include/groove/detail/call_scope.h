// Ops inside a library call take the user's place in the source: open a scope for its time.
#pragma once

#include "groove/detail/tensor_base.h"

namespace groove::detail {

class CallScope {
 public:
  explicit CallScope(const Site& site);
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

 private:
  alignas(8) unsigned char scope_[8];  // a core SiteScope
};

}  // namespace groove::detail
