// The registry of backends and the cache of what they compiled. The cache compares whole kernels:
// a hash alone would one day run the wrong code.
#include "kernels/backend.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "src/core/check.h"
#include "src/core/fork.h"

namespace groove::kernels {
namespace {

// A function-local static, because backends register from static initialisers of other files.
std::vector<Backend*>& registry() {
  static auto& backends = *new std::vector<Backend*>;  // never destroyed: threads may still compile
  return backends;
}

// Ascending. Tier 2 (llvm) compiles whole graphs and is not what eager ops run on.
constexpr const char* kEagerTiers[] = {"interpreter", "asmjit"};

Backend& choose_backend() {
  const char* const tier = std::getenv("GROOVE_TIER");
  auto highest = std::end(kEagerTiers);
  if (tier != nullptr && *tier != '\0' && std::strcmp(tier, "llvm") != 0) {
    highest = std::find_if(std::begin(kEagerTiers), std::end(kEagerTiers),
                           [&](const char* name) { return std::strcmp(name, tier) == 0; });
    GROOVE_CHECK(highest != std::end(kEagerTiers),
                 "GROOVE_TIER is `{}`; it is one of llvm, asmjit, interpreter", tier);
    ++highest;
  }
  while (highest != std::begin(kEagerTiers)) {
    Backend* const backend = find_backend(*--highest);
    if (backend != nullptr && backend->unavailable().empty()) return *backend;
  }
  throw_error("no backend is usable on this machine, not even the interpreter");
}

std::atomic<Backend*> current{nullptr};

template <typename Source, typename Compiled>
class Cache {
 public:
  // `compile`: the backend's code of the source.
  template <typename Compile>
  std::shared_ptr<const Compiled> get(Backend& backend, const Source& source, Isa isa,
                                      const Compile& compile) {
    const Probe probe{&backend, &source, hash(source), isa};
    const ForkGate gate;
    {
      const std::shared_lock lock(mutex_);
      if (auto found = entries_.find(probe.hash); found != entries_.end()) {
        if (auto compiled = match(found->second, probe)) return compiled;
      }
    }
    // Outside the lock: a contraction compiles its epilogue through the kernel cache.
    std::shared_ptr<const Compiled> compiled = compile();
    std::vector<Entry> unused;  // ends after the lock
    const std::unique_lock lock(mutex_);
    std::vector<Entry>& bucket = entries_[probe.hash];
    if (auto earlier = match(bucket, probe)) return earlier;
    bucket.push_back({&backend, source, probe.isa, compiled});
    if (++count_ >= most_) forget_unused(unused);
    return compiled;
  }

 private:
  struct Probe {
    Backend* backend;
    const Source* source;
    std::uint64_t hash;
    Isa isa;  // a product's code is made for one
  };
  struct Entry {
    Backend* backend;
    Source source;
    Isa isa;
    std::shared_ptr<const Compiled> compiled;
  };

  static std::shared_ptr<const Compiled> match(const std::vector<Entry>& bucket,
                                               const Probe& probe) {
    for (const Entry& entry : bucket) {
      if (entry.backend == probe.backend && entry.isa == probe.isa &&
          entry.source == *probe.source) {
        return entry.compiled;
      }
    }
    return nullptr;
  }

  // Kernels of programs that are gone, such as those of a loop whose sizes change: their code
  // memory is wanted back. The limit follows what is in use, so that looking through all is rare.
  void forget_unused(std::vector<Entry>& unused) {
    for (auto bucket = entries_.begin(); bucket != entries_.end();) {
      std::vector<Entry>& entries = bucket->second;
      const auto is_used = [](const Entry& entry) { return entry.compiled.use_count() > 1; };
      const auto kept = std::partition(entries.begin(), entries.end(), is_used);
      unused.insert(unused.end(), std::make_move_iterator(kept),
                    std::make_move_iterator(entries.end()));
      entries.erase(kept, entries.end());
      bucket = entries.empty() ? entries_.erase(bucket) : std::next(bucket);
    }
    count_ -= unused.size();
    most_ = std::max(kLeastLimit, 2 * count_);
  }

  static constexpr std::size_t kLeastLimit = 2048;
  std::shared_mutex mutex_;
  std::unordered_map<std::uint64_t, std::vector<Entry>> entries_;
  std::size_t count_ = 0, most_ = kLeastLimit;
};

}  // namespace

void register_backend(Backend& backend) { registry().push_back(&backend); }

Backend* find_backend(const std::string& name) {
  for (Backend* backend : registry()) {
    if (name == backend->name()) return backend;
  }
  return nullptr;
}

Backend& current_backend() {
  Backend* backend = current.load(std::memory_order_acquire);
  if (backend == nullptr) {
    backend = &choose_backend();
    current.store(backend, std::memory_order_release);
  }
  return *backend;
}

void set_current_backend(Backend& backend) { current.store(&backend, std::memory_order_release); }

// Never destroyed: pool threads may still run compiled code while statics are torn down.
std::shared_ptr<const Callable> compile_cached(Backend& backend, const Kernel& kernel) {
  static auto& cache = *new Cache<Kernel, Callable>;
  return cache.get(backend, kernel, isa(), [&] { return backend.compile(kernel); });
}

namespace {

// Sums in the order that the sizes of the launch ask for.
class ContractionOfEitherOrder final : public ContractionCallable {
 public:
  using Part = std::shared_ptr<const ContractionCallable>;
  ContractionOfEitherOrder(Part chain, Part dot) : chain_(std::move(chain)), dot_(std::move(dot)) {}
  std::size_t scratch_bytes(const ContractionLaunch& launch, int parts) const override {
    return of(launch).scratch_bytes(launch, parts);
  }
  void run(const ContractionLaunch& launch, int part, int parts, void* scratch) const override {
    of(launch).run(launch, part, parts, scratch);
  }
  std::string listing() const override { return chain_->listing() + dot_->listing(); }

 private:
  const ContractionCallable& of(const ContractionLaunch& launch) const {
    const ContractionShape& shape = launch.shape;
    return order_class(shape.m, shape.n, shape.k) == OrderClass::kDot ? *dot_ : *chain_;
  }
  Part chain_, dot_;
};

}  // namespace

std::shared_ptr<const ContractionCallable> compile_cached(Backend& backend,
                                                          const Contraction& contraction, Isa isa) {
  if (contraction.order == OrderClass::kOfLaunch) {
    Contraction chain = contraction, dot = contraction;
    chain.order = OrderClass::kChain;
    dot.order = OrderClass::kDot;
    return std::make_shared<ContractionOfEitherOrder>(compile_cached(backend, chain, isa),
                                                      compile_cached(backend, dot, isa));
  }
  static auto& cache = *new Cache<Contraction, ContractionCallable>;
  return cache.get(backend, contraction, isa, [&] { return backend.compile(contraction, isa); });
}

}  // namespace groove::kernels
