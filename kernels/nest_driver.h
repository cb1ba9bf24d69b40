// Loop nests: what code generators that compile a kernel to one function agree on. The function
// walks the two innermost axes, vectorised along axis 0; the driver here walks the outer axes.
//
// Instructions run at one of three levels: once a launch (constants, parameters and what derives
// from them), once a row (what does not vary along axis 0) and once a vector.
#pragma once

#include <array>
#include <atomic>
#include <vector>

#include "kernels/bound_call.h"
#include "kernels/ir.h"

namespace groove::kernels {

inline constexpr int kMaxAccesses = 128;

struct NestAccess {
  void* pointer;           // of the first point
  std::int64_t stride[2];  // bytes, along axes 0 and 1
};

struct NestArguments {
  std::int64_t count[2];
  std::int64_t index[kMaxAxes];  // of the first point
  const std::uint64_t* scalars;
  NestAccess accesses[kMaxAccesses];
};

using NestFunction = void (*)(const NestArguments*);

enum class Level : std::uint8_t { kLaunch, kRow, kVector };
/// Per instruction. In column kernels all but constants and parameters is of kVector, because it
/// changes along axis 1.
std::vector<Level> nest_levels(const Kernel& kernel);

// The code of a kernel by instruction set; null until a run has asked for it.
struct NestCode {
  std::array<std::atomic<NestFunction>, 2> functions{};
};

// Implemented by callables that are one nest and nothing else.
class BindableKernel {
 public:
  virtual ~BindableKernel() = default;
  virtual const NestCode& code() const noexcept = 0;
  /// Appends the calls of the launch, whose pointers and scalars are not looked at; false when
  /// there are too many or the driver walks it in an order of its own.
  virtual bool bind(const Launch& launch, std::vector<BoundCall>& calls) const = 0;
};

class NestDriver {
 public:
  explicit NestDriver(const Kernel& kernel);
  void run(NestFunction function, const Launch& launch) const noexcept;
  /// As BindableKernel says.
  bool bind(const Launch& launch, std::vector<BoundCall>& calls) const;

 private:
  bool walks_rows() const { return order_ == Order::kRow || order_ == Order::kTree; }
  template <typename Address>
  void describe(const Launch& launch, NestArguments& arguments, const Address& address) const;
  std::int64_t offset(const Launch& launch, std::size_t access, const std::int64_t* index) const;
  bool jumps_lines(const NestArguments& arguments) const;
  void run_blocks(NestFunction function, const Launch& launch, NestArguments& arguments) const;
  void move(const Launch& launch, NestArguments& arguments, int axis, std::int64_t steps) const;

  Order order_;
  std::vector<std::int64_t> sizes_;  // of an element, per access
};

}  // namespace groove::kernels
