// A launch of fixed geometry comes to a few calls of machine code. Their arguments are made once,
// by whoever would drive the launch; what is left at run time is to put addresses into them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/contraction/contraction.h"

namespace groove::kernels {

using BoundFunction = void (*)(const void* arguments);

struct BoundCall {
  // What an address is of: an operand (an access of a kernel; of a contraction A, B and then the
  // accesses of its epilogue), or one of these.
  static constexpr std::int32_t kScalars = -1, kScratch = -2, kArguments = -3;  // the call's own
  struct Address {
    std::int32_t at;  // byte offset in the arguments
    std::int32_t operand;
    std::int64_t offset;  // in bytes
  };
  BoundFunction function = nullptr;  // null: the kernel's own, which may change (NestCode)
  std::vector<std::byte> arguments;
  std::vector<Address> addresses;
};

/// More calls than this are better made by a driver: what it costs does not show any more.
inline constexpr std::size_t kMostBoundCalls = 24;

// Implemented by contractions that can say what a run comes to, on one thread.
class BindableContraction {
 public:
  virtual ~BindableContraction() = default;
  /// Appends the calls of launch, whose pointers are not looked at; false when there are too many
  /// or a driver must decide on them at run time.
  virtual bool bind(const ContractionLaunch& launch, std::vector<BoundCall>& calls) const = 0;
};

}  // namespace groove::kernels
