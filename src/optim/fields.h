// Fields of options and states to and from an archive, by name.
#pragma once

#include <tuple>

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
  void operator()(const char* key, const IValue& value) const { archive.write(key, value); }
};

struct Reader {
  serialize::InputArchive& archive;
  void operator()(const char* key, Tensor& value) const {
    if (!archive.try_read(key, value)) value = Tensor();
  }
  void operator()(const char* key, double& value) const { value = read(key).toDouble(); }
  void operator()(const char* key, bool& value) const { value = read(key).toBool(); }
  void operator()(const char* key, std::int64_t& value) const { value = read(key).toInt(); }
  void operator()(const char* key, std::tuple<double, double>& value) const {
    const IValue stored = read(key);
    GROOVE_CHECK(stored.toDoubleVector().size() == 2, "load: '{}' has {} numbers, not 2", key,
                 stored.toDoubleVector().size());
    value = {stored.toDoubleVector()[0], stored.toDoubleVector()[1]};
  }

 private:
  IValue read(const char* key) const {
    IValue value;
    archive.read(key, value);
    return value;
  }
};

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
