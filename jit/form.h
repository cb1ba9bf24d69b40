// A form: part of a graph as words, with values, nodes and run-time numbers counted as they are
// met. Equal words mean equal parts over other values, as layers and time steps are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "src/core/graph.h"

namespace groove::jit {

using FormWords = std::vector<std::int64_t>;

struct FormHash {
  std::size_t operator()(const FormWords& words) const;
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
  void add_type(const Type& type);
  void add_geometry(const Geometry& geometry);
  /// Op, attributes and numbers. Nothing but its kind is known of a run-time number.
  void add_call(const Node& node);
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
