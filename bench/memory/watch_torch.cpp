// LibTorch's CPU memory profiler: it reports every allocation with the total that is held, exactly
// as asked for, scratch memory of its libraries aside.
#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <algorithm>
#include <atomic>

#include "watch.h"

namespace {

class Reports final : public c10::MemoryReportingInfoBase {
 public:
  void reportMemoryUsage(void*, std::int64_t, std::size_t total, std::size_t,
                         c10::Device) override {
    held = total;
    std::size_t known = peak;
    while (known < total && !peak.compare_exchange_weak(known, total)) {
    }
  }
  bool memoryProfilingEnabled() const override { return true; }

  std::atomic<std::size_t> held{0}, peak{0};
};

}  // namespace

struct MemoryWatch::State {
  std::shared_ptr<Reports> reports = std::make_shared<Reports>();
  c10::DebugInfoGuard guard{c10::DebugInfoKind::PROFILER_STATE, reports};
};

MemoryWatch::MemoryWatch() : state_(std::make_unique<State>()) {}
MemoryWatch::~MemoryWatch() = default;
std::string MemoryWatch::library() const { return MEMORY_LIBRARY; }
std::size_t MemoryWatch::peak() const { return state_->reports->peak; }
std::size_t MemoryWatch::held() const { return state_->reports->held; }
void MemoryWatch::begin_steady() { state_->reports->peak = state_->reports->held.load(); }
