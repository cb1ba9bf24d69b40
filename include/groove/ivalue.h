// IValue: a value of one of the types that files and contexts hold besides tensors; Dict: a
// dictionary of such values. Lists, tuples and dictionaries are shared by their copies.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "groove/tensor.h"

namespace groove {

class IValue;
template <typename Key, typename Value>
class Dict;
using GenericDict = Dict<IValue, IValue>;

namespace ivalue {
class Tuple;
}
namespace detail {
class DictRows;
}

class IValue {
 public:
  IValue();
  IValue(Tensor value);
  IValue(std::string value);
  IValue(const char* value);
  IValue(std::vector<std::int64_t> value);
  IValue(std::vector<double> value);
  IValue(std::vector<IValue> value);
  template <typename T>
  IValue(const std::vector<T>& values)
      : IValue(std::vector<IValue>(values.begin(), values.end())) {}
  IValue(std::shared_ptr<ivalue::Tuple> value);
  template <typename Key, typename Value>
  IValue(const Dict<Key, Value>& value);
  template <typename T>
  IValue(const std::optional<T>& value) {
    if (value) *this = IValue(*value);
  }
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  IValue(T value) {
    if constexpr (std::is_same_v<T, bool>)
      value_ = value;
    else if constexpr (std::is_integral_v<T>)
      value_ = static_cast<std::int64_t>(value);
    else
      value_ = static_cast<double>(value);
  }
  IValue(const IValue&);
  IValue(IValue&&) noexcept;
  IValue& operator=(const IValue&);
  IValue& operator=(IValue&&) noexcept;
  ~IValue();

  bool isNone() const { return holds<std::monostate>(); }
  bool isInt() const { return holds<std::int64_t>(); }
  bool isDouble() const { return holds<double>(); }
  bool isBool() const { return holds<bool>(); }
  bool isTensor() const { return holds<Tensor>(); }
  bool isString() const { return holds<std::string>(); }
  bool isIntList() const { return holds<std::vector<std::int64_t>>(); }
  bool isDoubleList() const { return holds<std::vector<double>>(); }
  bool isTuple() const { return holds<std::shared_ptr<ivalue::Tuple>>(); }
  bool isList() const { return isIntList() || isDoubleList() || holds<List>(); }
  /// A list of one tensor or more and nothing else.
  bool isTensorList() const;
  bool isGenericDict() const { return holds<std::shared_ptr<detail::DictRows>>(); }
  // A value of TorchScript, which Groove does not run.
  bool isModule() const { return false; }
  // Each throws groove::Error when the value is of another type.
  std::int64_t toInt() const;
  std::int64_t toSymInt() const { return toInt(); }
  double toDouble() const;
  bool toBool() const;
  const Tensor& toTensor() const;
  const std::string& toStringRef() const;
  /// Also of a list whose elements are all of that type.
  std::vector<std::int64_t> toIntVector() const;
  std::vector<std::int64_t> toSymIntVector() const { return toIntVector(); }
  std::vector<double> toDoubleVector() const;
  std::vector<Tensor> toTensorVector() const;
  std::shared_ptr<ivalue::Tuple> toTuple() const;
  /// The elements of any list.
  std::vector<IValue> toListRef() const;
  std::vector<IValue> toList() const { return toListRef(); }
  GenericDict toGenericDict() const;
  /// As the type T: one of those above, or a vector, Dict or optional of these.
  template <typename T>
  T to() const;

  /// Adds to a list that was made of values; all copies of it have the element then.
  void append(IValue element) const;

 private:
  friend class detail::DictRows;
  template <typename Key, typename Value>
  friend class Dict;
  using List = std::shared_ptr<std::vector<IValue>>;
  template <typename T>
  bool holds() const {
    return std::holds_alternative<T>(value_);
  }
  template <typename T>
  const T& get(const char* wanted) const;
  const char* kind() const;
  explicit IValue(std::shared_ptr<detail::DictRows> rows);
  std::shared_ptr<detail::DictRows> rows() const;

  std::variant<std::monostate, std::int64_t, double, bool, Tensor, std::string,
               std::vector<std::int64_t>, std::vector<double>, std::shared_ptr<ivalue::Tuple>, List,
               std::shared_ptr<detail::DictRows>>
      value_;
};

namespace ivalue {
class Tuple {
 public:
  explicit Tuple(std::vector<IValue> elements) : elements_(std::move(elements)) {}
  static std::shared_ptr<Tuple> create(std::vector<IValue> elements) {
    return std::make_shared<Tuple>(std::move(elements));
  }
  const std::vector<IValue>& elements() const { return elements_; }
  std::size_t size() const { return elements_.size(); }

 private:
  std::vector<IValue> elements_;
};
}  // namespace ivalue

namespace detail {

// What all copies of a dictionary share: its rows in the order in which their keys came. A key is a
// string, a number or a bool; another one throws groove::Error.
class DictRows {
 public:
  using Row = std::pair<IValue, IValue>;
  DictRows();
  ~DictRows();
  DictRows(const DictRows&) = delete;
  DictRows& operator=(const DictRows&) = delete;
  std::size_t size() const;
  Row& row(std::size_t at);
  /// size() if there is none.
  std::size_t find(const IValue& key) const;
  /// Where the key's row is; true if it is new. An old one keeps its value.
  std::pair<std::size_t, bool> insert(IValue key, IValue value);
  bool erase(const IValue& key);
  void clear();

 private:
  struct Content;
  std::unique_ptr<Content> content_;
};

[[noreturn]] void throw_no_key(const IValue& key);

template <typename T>
struct FromValue {
  static T get(const IValue& value) {
    if constexpr (std::is_same_v<T, IValue>)
      return value;
    else if constexpr (std::is_same_v<T, bool>)
      return value.toBool();
    else if constexpr (std::is_integral_v<T>)
      return static_cast<T>(value.toInt());
    else if constexpr (std::is_floating_point_v<T>)
      return static_cast<T>(value.toDouble());
    else if constexpr (std::is_same_v<T, std::string>)
      return value.toStringRef();
    else
      return value.toTensor();
  }
};
template <typename T>
struct FromValue<std::vector<T>> {
  static std::vector<T> get(const IValue& value) {
    std::vector<T> all;
    for (const IValue& element : value.toListRef()) all.push_back(element.to<T>());
    return all;
  }
};
template <typename T>
struct FromValue<std::optional<T>> {
  static std::optional<T> get(const IValue& value) {
    return value.isNone() ? std::nullopt : std::optional<T>(value.to<T>());
  }
};
template <typename Key, typename Value>
struct FromValue<Dict<Key, Value>> {
  static Dict<Key, Value> get(const IValue& value) { return Dict<Key, Value>(value); }
};

}  // namespace detail

template <typename T>
T IValue::to() const {
  return detail::FromValue<T>::get(*this);
}

/// Keys in the order in which they came. Copies share their content.
template <typename Key, typename Value>
class Dict {
 public:
  using key_type = Key;
  using mapped_type = Value;
  using size_type = std::size_t;

  class Entry {
   public:
    Entry(detail::DictRows* rows, std::size_t at) : rows_(rows), at_(at) {}
    Key key() const { return rows_->row(at_).first.template to<Key>(); }
    Value value() const { return rows_->row(at_).second.template to<Value>(); }
    template <typename T>
    void setValue(T&& value) const {
      rows_->row(at_).second = IValue(Value(std::forward<T>(value)));
    }

   private:
    detail::DictRows* rows_;
    std::size_t at_;
  };
  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Entry;
    using difference_type = std::ptrdiff_t;
    using pointer = const Entry*;
    using reference = const Entry&;
    iterator(detail::DictRows* rows, std::size_t at) : rows_(rows), at_(at), entry_(rows, at) {}
    const Entry& operator*() const { return entry_; }
    const Entry* operator->() const { return &entry_; }
    iterator& operator++() {
      entry_ = Entry(rows_, ++at_);
      return *this;
    }
    iterator operator++(int) {
      iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const iterator& other) const { return at_ == other.at_; }

   private:
    detail::DictRows* rows_;
    std::size_t at_;
    Entry entry_;
  };
  using const_iterator = iterator;

  Dict() : rows_(std::make_shared<detail::DictRows>()) {}
  /// The one that `value` holds; throws groove::Error when it holds another thing.
  explicit Dict(const IValue& value) : rows_(value.rows()) {}

  iterator begin() const { return {rows_.get(), 0}; }
  iterator end() const { return {rows_.get(), rows_->size()}; }
  std::size_t size() const { return rows_->size(); }
  bool empty() const { return size() == 0; }
  void clear() const { rows_->clear(); }
  void reserve(std::size_t) const {}
  bool contains(const Key& key) const { return rows_->find(IValue(key)) != rows_->size(); }
  iterator find(const Key& key) const { return {rows_.get(), rows_->find(IValue(key))}; }
  /// Throws groove::Error when the key is not there.
  Value at(const Key& key) const {
    const std::size_t at = rows_->find(IValue(key));
    if (at == rows_->size()) detail::throw_no_key(IValue(key));
    return rows_->row(at).second.template to<Value>();
  }
  /// An old value stays.
  template <typename K, typename V>
  std::pair<iterator, bool> insert(K&& key, V&& value) const {
    const auto [at, is_new] =
        rows_->insert(IValue(Key(std::forward<K>(key))), IValue(Value(std::forward<V>(value))));
    return {iterator(rows_.get(), at), is_new};
  }
  template <typename K, typename V>
  std::pair<iterator, bool> insert_or_assign(K&& key, V&& value) const {
    const IValue given = IValue(Value(std::forward<V>(value)));
    const auto [at, is_new] = rows_->insert(IValue(Key(std::forward<K>(key))), given);
    rows_->row(at).second = given;
    return {iterator(rows_.get(), at), is_new};
  }
  std::size_t erase(const Key& key) const { return rows_->erase(IValue(key)) ? 1 : 0; }
  bool is(const Dict& other) const { return rows_ == other.rows_; }

 private:
  friend class IValue;
  std::shared_ptr<detail::DictRows> rows_;
};

template <typename Key, typename Value>
IValue::IValue(const Dict<Key, Value>& value) : IValue(value.rows_) {}

}  // namespace groove
