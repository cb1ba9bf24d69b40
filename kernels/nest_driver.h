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
  // A bit for each of the first 31 accesses: whole vectors are stored past the caches. Only stores
  // of f32 that streams() names have one, and only in maps and rows.
  std::uint64_t streamed;
  NestAccess accesses[kMaxAccesses];
};

enum class Level : std::uint8_t { kLaunch, kRow, kVector };

// A row that several phases walk comes from memory in the first of them, while nothing is computed,
// and what is computed from it later keeps memory idle. So phases ask for a later row as they go,
// those with most work for most of it: into the first cache where that has room for the rows in use
// at a time, otherwise into the second.
struct Lookahead {
  enum class Part : std::uint8_t { kWhole, kFirstHalf, kSecondHalf };
  struct Ask {
    std::int32_t access;  // a contiguous load
    Part part;            // of its row
  };
  std::vector<std::vector<Ask>> phases;
  bool is_near = false;
  // How many rows further a row lies, and the next one if it is longer than so many bytes.
  int rows = 1;
  std::int64_t longest_skipped = kLongest;
  // A longer row would be gone again: the present one is asked for instead, which does nothing.
  static constexpr std::int64_t kLongest = 32 << 10;
};
/// For a first cache of so many bytes.
Lookahead find_lookahead(const Kernel& kernel, const std::vector<Level>& levels,
                         std::int64_t first_cache);

/// May the kernel's store through this access be streamed?
bool streams(const Kernel& kernel, std::size_t access);
/// The bytes from which on a launch streams what it stores: as many as half of the last cache, out
/// of which later readers would find little of them. Tests lower it; 0 sets it back.
void set_least_streamed(std::int64_t bytes);

using NestFunction = void (*)(const NestArguments*);

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
  std::uint64_t find_streamed(const Launch& launch, const NestArguments& arguments) const;

  Order order_;
  std::vector<std::int64_t> sizes_;  // of an element, per access
  std::uint64_t streaming_ = 0;      // accesses that may be streamed
};

}  // namespace groove::kernels
