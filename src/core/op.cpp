// The registry of operators, and how attributes are read.
#include "src/core/op.h"

#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "src/core/check.h"
#include "src/core/fork.h"

namespace groove {
namespace {

// Most are defined by static initialisers, some by who uses them first, while other threads read.
// Never destroyed.
struct Registry {
  static constexpr std::size_t kMost = 4096;
  std::mutex mutex;
  std::vector<std::unique_ptr<Op>> owned;
  std::array<const Op*, kMost> list{};  // of which the first ones are there
  std::atomic<std::size_t> count{0};
  std::unordered_map<std::string, const Op*> by_name;
};
Registry& registry() {
  static Registry& instance = *new Registry;
  return instance;
}
// Nobody waits for another lock while it is held.
[[maybe_unused]] const bool is_held_over_fork =
    hold_over_fork(ForkRank::kMemory, []() -> std::mutex& { return registry().mutex; });

}  // namespace

ValueRange values_of(ScalarType dtype) {
  if (is_floating(dtype)) return {};
  if (dtype == kBool) return {0, 1};
  const int bits = 8 * static_cast<int>(element_size(dtype));
  return dtype == kByte ? ValueRange{0, 255}
                        : ValueRange{-std::ldexp(1.0, bits - 1), std::ldexp(1.0, bits - 1) - 1};
}

const Op& define(Op op) {
  GROOVE_ASSERT(!op.name.empty(), "an operator has no name");
  const std::string name = op.name;
  const Op* const record = define_new(std::move(op));
  GROOVE_ASSERT(record, "operator {} is defined twice, or there are {} already", name,
                Registry::kMost);
  return *record;
}

const Op* define_new(Op op) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  const std::size_t count = r.count.load(std::memory_order_relaxed);
  if (count == Registry::kMost || r.by_name.contains(op.name)) return nullptr;
  op.id = static_cast<int>(count);
  r.owned.push_back(std::make_unique<Op>(std::move(op)));
  const Op* const record = r.owned.back().get();
  r.by_name.emplace(record->name, record);
  r.list[count] = record;
  r.count.store(count + 1, std::memory_order_release);
  return record;
}

const Op* find_op(const std::string& name) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  const auto found = r.by_name.find(name);
  return found == r.by_name.end() ? nullptr : found->second;
}

ArrayRef<const Op*> all_ops() {
  const Registry& r = registry();
  return {r.list.data(), r.count.load(std::memory_order_acquire)};
}

Attrs& Attrs::add_double(double value) { return add(std::bit_cast<std::int64_t>(value)); }

std::size_t AttrReader::position(std::size_t field) const {
  const SmallVector<std::int64_t, 8>& words = attrs_.words();
  GROOVE_ASSERT(field < op_.attributes.size(), "{} has no attribute field {}", op_.name, field);
  std::size_t at = 0;
  for (std::size_t i = 0; i < field; ++i) {
    GROOVE_ASSERT(at < words.size(), "{}: attributes are too short", op_.name);
    at += op_.attributes[i].type == AttrType::kInts ? 1 + static_cast<std::size_t>(words[at]) : 1;
  }
  GROOVE_ASSERT(at < words.size(), "{}: attributes are too short", op_.name);
  return at;
}

std::int64_t AttrReader::integer(std::size_t field) const {
  return attrs_.words()[position(field)];
}

IntArrayRef AttrReader::integers(std::size_t field) const {
  const std::size_t at = position(field);
  const SmallVector<std::int64_t, 8>& words = attrs_.words();
  const std::size_t count = static_cast<std::size_t>(words[at]);
  GROOVE_ASSERT(at + 1 + count <= words.size(), "{}: attributes are too short", op_.name);
  return IntArrayRef(words.data() + at + 1, count);
}

double AttrReader::real(std::size_t field) const { return std::bit_cast<double>(integer(field)); }

}  // namespace groove
