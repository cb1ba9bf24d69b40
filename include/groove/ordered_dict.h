// A dictionary that remembers the order of insertion: parameters and submodules by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "groove/error.h"

namespace groove {
namespace detail {

[[noreturn]] void throw_no_item(std::size_t index, const char* method);

// The positions of hashes in a list, for a search by key. (A std::unordered_map would be the
// dearest part of the header.)
class HashIndex {
 public:
  static constexpr std::size_t kNone = ~std::size_t{0};
  /// The greatest position with this hash, and the next smaller one after `position`.
  std::size_t first(std::size_t hash) const;
  std::size_t next(std::size_t position) const;
  /// At the end of the list.
  void append(std::size_t hash);
  /// Later positions move up.
  void erase(std::size_t position);
  void clear();

 private:
  struct Entry {
    std::size_t hash;
    std::size_t next;  // in the same bucket
  };
  std::size_t matching(std::size_t position, std::size_t hash) const;
  void distribute(std::size_t buckets);
  std::vector<Entry> entries_;
  std::vector<std::size_t> buckets_;  // a power of two
};

}  // namespace detail

template <typename Key, typename Value>
class OrderedDict {
 public:
  class Item {
   public:
    Item(Key key, Value value) : pair_(std::move(key), std::move(value)) {}
    Value& operator*() { return pair_.second; }
    const Value& operator*() const { return pair_.second; }
    Value* operator->() { return &pair_.second; }
    const Value* operator->() const { return &pair_.second; }
    const Key& key() const noexcept { return pair_.first; }
    Value& value() noexcept { return pair_.second; }
    const Value& value() const noexcept { return pair_.second; }
    const std::pair<Key, Value>& pair() const noexcept { return pair_; }

   private:
    std::pair<Key, Value> pair_;
  };
  using key_type = Key;
  using value_type = Value;
  using Iterator = typename std::vector<Item>::iterator;
  using ConstIterator = typename std::vector<Item>::const_iterator;

  explicit OrderedDict(std::string key_description = "Key")
      : key_description_(std::move(key_description)) {}
  OrderedDict(std::initializer_list<Item> items) : OrderedDict() {
    for (const Item& item : items) insert(item.key(), item.value());
  }

  const std::string& key_description() const noexcept { return key_description_; }
  /// Throw groove::Error where there is no such item.
  Item& front() { return items_[checked_index(0, "front()")]; }
  const Item& front() const { return items_[checked_index(0, "front()")]; }
  Item& back() { return items_[checked_index(size() - 1, "back()")]; }
  const Item& back() const { return items_[checked_index(size() - 1, "back()")]; }
  Item& operator[](std::size_t index) { return items_[checked_index(index, nullptr)]; }
  const Item& operator[](std::size_t index) const { return items_[checked_index(index, nullptr)]; }
  /// Throws groove::Error when the key is not there.
  Value& operator[](const Key& key) { return *checked(find(key), key); }
  const Value& operator[](const Key& key) const { return *checked(find(key), key); }
  Value* find(const Key& key) noexcept {
    const std::size_t at = position(key);
    return at == kNone ? nullptr : &items_[at].value();
  }
  const Value* find(const Key& key) const noexcept {
    const std::size_t at = position(key);
    return at == kNone ? nullptr : &items_[at].value();
  }
  bool contains(const Key& key) const noexcept { return position(key) != kNone; }
  Iterator begin() { return items_.begin(); }
  Iterator end() { return items_.end(); }
  ConstIterator begin() const { return items_.begin(); }
  ConstIterator end() const { return items_.end(); }
  std::size_t size() const noexcept { return items_.size(); }
  bool is_empty() const noexcept { return items_.empty(); }

  /// Throws groove::Error when the key is there already.
  Value& insert(Key key, Value value) {
    if (contains(key)) throw_error(key_description_ + " '" + text(key) + "' already defined");
    index_.append(std::hash<Key>()(key));
    items_.emplace_back(std::move(key), std::move(value));
    return items_.back().value();
  }
  void update(const OrderedDict& other) {
    for (const Item& item : other) insert(item.key(), item.value());
  }
  void erase(const Key& key) {
    const std::size_t at = position(key);
    if (at == kNone) throw_error(key_description_ + " '" + text(key) + "' doesn't exist");
    items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(at));
    index_.erase(at);
  }
  void clear() {
    index_.clear();
    items_.clear();
  }
  void reserve(std::size_t count) { items_.reserve(count); }
  const std::vector<Item>& items() const noexcept { return items_; }
  std::vector<Key> keys() const {
    std::vector<Key> result;
    for (const Item& item : items_) result.push_back(item.key());
    return result;
  }
  std::vector<Value> values() const {
    std::vector<Value> result;
    for (const Item& item : items_) result.push_back(item.value());
    return result;
  }
  std::vector<std::pair<Key, Value>> pairs() const {
    std::vector<std::pair<Key, Value>> result;
    for (const Item& item : items_) result.push_back(item.pair());
    return result;
  }

 private:
  static constexpr std::size_t kNone = detail::HashIndex::kNone;
  std::size_t position(const Key& key) const noexcept {
    std::size_t at = index_.first(std::hash<Key>()(key));
    while (at != kNone && !(items_[at].key() == key)) at = index_.next(at);
    return at;
  }
  static std::string text(const Key& key) {
    if constexpr (std::is_convertible_v<Key, std::string>)
      return key;
    else
      return std::to_string(key);
  }
  template <typename Found>
  Found* checked(Found* found, const Key& key) const {
    if (!found) throw_error(key_description_ + " '" + text(key) + "' is not defined");
    return found;
  }
  std::size_t checked_index(std::size_t index, const char* method) const {
    if (index >= items_.size()) detail::throw_no_item(index, method);
    return index;
  }
  detail::HashIndex index_;
  std::vector<Item> items_;
  std::string key_description_;
};

}  // namespace groove
