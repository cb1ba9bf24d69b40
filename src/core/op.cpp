// The registry of operators, and how attributes are read.
#include "src/core/op.h"

#include <bit>
#include <cmath>
#include <memory>
#include <unordered_map>

#include "src/core/check.h"

namespace groove {
namespace {

// Filled by static initialisers, then only read: no lock. Never destroyed.
struct Registry {
  std::vector<std::unique_ptr<Op>> owned;
  std::vector<const Op*> list;
  std::unordered_map<std::string, const Op*> by_name;
};
Registry& registry() {
  static Registry& instance = *new Registry;
  return instance;
}

}  // namespace

ValueRange values_of(ScalarType dtype) {
  if (is_floating(dtype)) return {};
  if (dtype == kBool) return {0, 1};
  const int bits = 8 * static_cast<int>(element_size(dtype));
  return dtype == kByte ? ValueRange{0, 255}
                        : ValueRange{-std::ldexp(1.0, bits - 1), std::ldexp(1.0, bits - 1) - 1};
}

const Op& define(Op op) {
  Registry& r = registry();
  GROOVE_ASSERT(!op.name.empty(), "an operator has no name");
  GROOVE_ASSERT(!r.by_name.contains(op.name), "operator {} is defined twice", op.name);
  op.id = static_cast<int>(r.list.size());
  r.owned.push_back(std::make_unique<Op>(std::move(op)));
  const Op* const record = r.owned.back().get();
  r.list.push_back(record);
  r.by_name.emplace(record->name, record);
  return *record;
}

const Op* find_op(const std::string& name) {
  const auto found = registry().by_name.find(name);
  return found == registry().by_name.end() ? nullptr : found->second;
}

ArrayRef<const Op*> all_ops() { return registry().list; }

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
