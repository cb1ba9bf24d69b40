// The epilogue of a contraction as its drivers see it: either a plain store of the finished sums
// or a compiled kMap kernel that is run over blocks of them.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "kernels/backend.h"
#include "kernels/bound_call.h"
#include "kernels/contraction/contraction.h"

namespace groove::kernels {

// A rectangle of finished sums, rows `row_stride` elements apart; of one batch entry, or the same
// rectangle of several, `batch_stride` elements apart.
struct SumBlock {
  const void* sums = nullptr;
  std::int64_t row_stride = 0;
  std::int64_t batch = 0, row = 0, col = 0;  // where the rectangle lies in the result
  std::int64_t rows = 0, cols = 0;
  std::int64_t batches = 1, batch_stride = 0;
};

/// One load and one store of the contraction's dtype: sums may be written where they belong.
bool is_plain_epilogue(const Contraction& contraction);

class Epilogue {
 public:
  /// With `is_rare`, the kernel is compiled when it is first needed.
  Epilogue(const Contraction& contraction, Backend* backend, bool is_rare = false);
  bool is_plain() const { return is_plain_; }
  /// Assembly text of the kernel; not for plain ones.
  std::string listing() const { return callable().listing(); }
  void run(const ContractionLaunch& launch, const SumBlock& block) const noexcept;
  /// Appends the calls that run() comes to, with addresses relative to `pointers`, one for each
  /// access of the kernel; false when they cannot be told ahead.
  bool bind(const ContractionLaunch& launch, const SumBlock& block, std::vector<void*>& pointers,
            std::vector<BoundCall>& calls) const;

 private:
  static constexpr std::size_t kMaxAccesses = 64;
  struct Inner;  // a launch of the kernel

  ScalarType dtype_;
  bool is_plain_;
  std::size_t accesses_;
  const Callable& callable() const;
  void describe(const ContractionLaunch& launch, const SumBlock& block, Inner& inner) const;

  Kernel kernel_;  // empty when plain
  Backend* backend_;
  mutable std::mutex mutex_;  // of what a first use compiles
  mutable std::atomic<const Callable*> known_{nullptr};
  mutable std::shared_ptr<const Callable> callable_;
};

}  // namespace groove::kernels
