// A form: part of a graph as words, with values, nodes and run-time numbers counted as they are
// met. Equal words mean equal parts over other values, as layers and time steps are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "src/core/graph.h"

namespace groove::jit {

using FormWords = std::vector<std::int64_t>;

struct FormHash {
  std::size_t operator()(const FormWords& words) const;
};

/// What was found out of each form, by whatever thread. When it is full it begins anew.
template <typename Value>
class KnownForms {
 public:
  template <typename Find>
  Value of(const FormWords& form, const Find& find) {
    {
      const std::shared_lock lock(mutex_);
      if (const auto known = known_.find(form); known != known_.end()) return known->second;
    }
    const Value found = find();
    const std::unique_lock lock(mutex_);
    if (known_.size() >= kMost) known_.clear();
    return known_.try_emplace(form, found).first->second;
  }

 private:
  static constexpr std::size_t kMost = 8192;
  std::shared_mutex mutex_;
  std::unordered_map<FormWords, Value, FormHash> known_;
};

class FormWriter {
 public:
  explicit FormWriter(const Graph& graph) : graph_(graph) {}

  void add(std::int64_t word) { words_.push_back(word); }
  template <typename List, typename Each>
  void add_list(const List& list, const Each& each) {
    add(static_cast<std::int64_t>(list.size()));
    for (const auto& item : list) each(item);
  }
  template <typename List>
  void add_list(const List& list) {
    add_list(list, [&](auto item) { add(static_cast<std::int64_t>(item)); });
  }
  void add_dtype(ValueId id) {
    add(static_cast<std::int64_t>(id == kNoValue ? ScalarType::Undefined : graph_.type(id).dtype));
  }
  void add_type(const Type& type);
  void add_geometry(const Geometry& geometry);
  enum class Numbers : std::uint8_t { kValues, kKinds };
  /// Op, attributes and numbers. Nothing but its kind is known of a run-time number.
  void add_call(const Node& node, Numbers numbers = Numbers::kValues);
  /// The number of `id` among those counted, which it becomes one of.
  template <typename Id>
  void add_counted(std::vector<Id>& known, Id id) {
    const auto found = std::find(known.begin(), known.end(), id);
    add(found - known.begin());
    if (found == known.end()) known.push_back(id);
  }

  const FormWords& words() const { return words_; }
  const std::vector<std::int32_t>& entries() const { return entries_; }
  void clear();

 private:
  const Graph& graph_;
  FormWords words_;
  std::vector<std::int32_t> entries_;  // by number
};

}  // namespace groove::jit
