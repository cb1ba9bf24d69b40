// Fields of options and states to and from an archive, by name.
#pragma once

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "groove/ops/math.h"
#include "groove/serialize.h"
#include "src/core/check.h"
#include "src/core/small_vector.h"

namespace groove::optim::detail {

struct Writer {
  serialize::OutputArchive& archive;
  void operator()(const char* key, const Tensor& value) const {
    if (value.defined()) archive.write(key, value);
  }
  void operator()(const char* key, const std::tuple<double, double>& value) const {
    archive.write(key, IValue(std::vector<double>{std::get<0>(value), std::get<1>(value)}));
  }
  void operator()(const char* key, const std::tuple<double, double, double>& value) const {
    const auto [a, b, c] = value;
    archive.write(key, IValue(std::vector<double>{a, b, c}));
  }
  void operator()(const char* key, const std::vector<double>& value) const {
    archive.write(key, IValue(value));
  }
  void operator()(const char* key, const IValue& value) const { archive.write(key, value); }
  template <typename T>
  void operator()(const char* key, const std::optional<T>& value) const {
    if (value) archive.write(key, IValue(*value));
  }
  // As "key.0", "key.1", ….
  void operator()(const char* key, const std::deque<Tensor>& values) const {
    serialize::OutputArchive nested;
    for (std::size_t i = 0; i < values.size(); ++i) nested.write(std::to_string(i), values[i]);
    if (!values.empty()) archive.write(key, nested);
  }
};

/// Fields of `own` that are as in `fresh` become those of `defaults`; `each` visits the fields of
/// options.
template <typename Options, typename Each>
void inherit_fields(Options& own, const Options& fresh, const Options& defaults, Each each) {
  std::vector<const void*> unchanged, inherited;
  each(fresh, [&](const char*, const auto& field) { unchanged.push_back(&field); });
  each(defaults, [&](const char*, const auto& field) { inherited.push_back(&field); });
  std::size_t at = 0;
  each(own, [&](const char*, auto& field) {
    using Field = std::decay_t<decltype(field)>;
    if (field == *static_cast<const Field*>(unchanged[at]))
      field = *static_cast<const Field*>(inherited[at]);
    ++at;
  });
}

inline bool same_field(const Tensor& a, const Tensor& b) {
  return a.defined() == b.defined() && (!a.defined() || equal(a, b));
}
inline bool same_field(const std::deque<Tensor>& a, const std::deque<Tensor>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Tensor& x, const Tensor& y) { return same_field(x, y); });
}
template <typename T>
bool same_field(const T& a, const T& b) {
  return a == b;
}
template <typename Fields, typename Each>
bool same_fields(const Fields& a, const Fields& b, Each each) {
  std::vector<const void*> others;
  each(b, [&](const char*, const auto& field) { others.push_back(&field); });
  std::size_t at = 0;
  bool is_same = true;
  each(a, [&](const char*, const auto& field) {
    is_same = is_same &&
              same_field(field, *static_cast<const std::decay_t<decltype(field)>*>(others[at++]));
  });
  return is_same;
}

struct Reader {
  serialize::InputArchive& archive;
  void operator()(const char* key, Tensor& value) const {
    if (!archive.try_read(key, value)) value = Tensor();
  }
  void operator()(const char* key, double& value) const { value = read(key).toDouble(); }
  void operator()(const char* key, bool& value) const { value = read(key).toBool(); }
  void operator()(const char* key, std::int64_t& value) const { value = read(key).toInt(); }
  void operator()(const char* key, std::vector<double>& value) const {
    value = read(key).toDoubleVector();
  }
  void operator()(const char* key, std::tuple<double, double>& value) const {
    const std::vector<double> numbers = read_numbers(key, 2);
    value = {numbers[0], numbers[1]};
  }
  void operator()(const char* key, std::tuple<double, double, double>& value) const {
    const std::vector<double> numbers = read_numbers(key, 3);
    value = {numbers[0], numbers[1], numbers[2]};
  }
  template <typename T>
  void operator()(const char* key, std::optional<T>& value) const {
    IValue stored;
    value.reset();
    if (!archive.try_read(key, stored)) return;
    if constexpr (std::is_same_v<T, std::string>)
      value = stored.toStringRef();
    else
      value = static_cast<T>(stored.toInt());
  }
  void operator()(const char* key, std::deque<Tensor>& values) const {
    values.clear();
    serialize::InputArchive nested;
    if (!archive.try_read(key, nested)) return;
    Tensor value;
    while (nested.try_read(std::to_string(values.size()), value))
      values.push_back(std::exchange(value, Tensor()));
  }

 private:
  std::vector<double> read_numbers(const char* key, std::size_t count) const {
    const std::vector<double> numbers = read(key).toDoubleVector();
    GROOVE_CHECK(numbers.size() == count, "load: '{}' has {} numbers, not {}", key, numbers.size(),
                 count);
    return numbers;
  }
  IValue read(const char* key) const {
    IValue value;
    archive.read(key, value);
    return value;
  }
};

// get_momentum() and set_momentum() of options with momentum() or betas().
template <typename Options>
std::optional<double> momentum_of(const Options& options) {
  if constexpr (requires { options.momentum(); })
    return options.momentum();
  else if constexpr (requires { options.betas(); })
    return std::get<0>(options.betas());
  else
    return std::nullopt;
}
template <typename Options>
void set_momentum_of(Options& options, double momentum) {
  if constexpr (requires { options.momentum(); })
    options.momentum() = momentum;
  else if constexpr (requires { options.betas(); })
    std::get<0>(options.betas()) = momentum;
  else
    options.OptimizerOptions::set_momentum(momentum);
}

inline void check_not_negative(const char* optimizer, const char* option, double value) {
  GROOVE_CHECK(value >= 0, "{}: {} is {}; it must not be negative", optimizer, option, value);
}

/// A loaded tensor of a parameter's state, which may be undefined, has its shape and dtype.
inline void check_like(const char* optimizer, const char* key, const Tensor& parameter,
                       const Tensor& value) {
  GROOVE_CHECK(!value.defined() || (value.sizes() == parameter.sizes() &&
                                    value.scalar_type() == parameter.scalar_type()),
               "load: {} of {} has shape {} and dtype {}, but the parameter has {} and {}", key,
               optimizer, to_string(value.sizes()), name(value.scalar_type()),
               to_string(parameter.sizes()), name(parameter.scalar_type()));
}

}  // namespace groove::optim::detail
