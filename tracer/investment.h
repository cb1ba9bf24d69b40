// What a thread may spend on recording: a little at once, and then a share of the time it runs. A
// program that never comes to repeat itself loses no more than that.
#pragma once

#include <cstdint>

#include "tracer/ledger.h"

namespace groove::tracer {

class Investment {
 public:
  /// May another recording begin?
  bool is_affordable() const {
    return spent_ < kAtOnce || (spent_ - kAtOnce) * kShare < nanoseconds_now() - born_;
  }
  std::int64_t& spent() { return spent_; }  // nanoseconds

 private:
  static constexpr std::int64_t kAtOnce = 500'000, kShare = 10;
  std::int64_t born_ = nanoseconds_now(), spent_ = 0;
};

}  // namespace groove::tracer
