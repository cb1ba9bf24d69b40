#include "groove/ordered_dict.h"

#include "src/core/check.h"

namespace groove::detail {

void throw_no_item(std::size_t index, const char* method) {
  if (method) throw_error(fmt::format("Called {} on an empty OrderedDict", method));
  throw_error(fmt::format("OrderedDict: Index {} is out of bounds", index));
}

std::size_t HashIndex::matching(std::size_t position, std::size_t hash) const {
  while (position != kNone && entries_[position].hash != hash) position = entries_[position].next;
  return position;
}

std::size_t HashIndex::first(std::size_t hash) const {
  if (buckets_.empty()) return kNone;
  return matching(buckets_[hash & (buckets_.size() - 1)], hash);
}

std::size_t HashIndex::next(std::size_t position) const {
  return matching(entries_[position].next, entries_[position].hash);
}

void HashIndex::append(std::size_t hash) {
  if (entries_.size() == buckets_.size()) distribute(buckets_.empty() ? 8 : 2 * buckets_.size());
  std::size_t& bucket = buckets_[hash & (buckets_.size() - 1)];
  entries_.push_back({hash, bucket});
  bucket = entries_.size() - 1;
}

void HashIndex::erase(std::size_t position) {
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(position));
  distribute(buckets_.size());
}

void HashIndex::clear() {
  entries_.clear();
  buckets_.clear();
}

void HashIndex::distribute(std::size_t buckets) {
  buckets_.assign(buckets, kNone);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    std::size_t& bucket = buckets_[entries_[i].hash & (buckets - 1)];
    entries_[i].next = bucket;
    bucket = i;
  }
}

}  // namespace groove::detail
