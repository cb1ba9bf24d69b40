// The macros with which optimizers of programs write and read their options.
#pragma once

#include "groove/compat/torch/types.h"

namespace torch::optim::detail {

template <typename T>
void write_arg(serialize::OutputArchive& archive, const char* key, const T& value) {
  if constexpr (std::is_same_v<T, std::tuple<double, double>>)
    archive.write(key, IValue(std::vector<double>{std::get<0>(value), std::get<1>(value)}));
  else if constexpr (std::is_same_v<T, Tensor>)
    archive.write(key, value);
  else
    archive.write(key, IValue(value));
}

template <typename T>
T read_arg(serialize::InputArchive& archive, const char* key) {
  if constexpr (std::is_same_v<T, Tensor>) {
    Tensor value;
    archive.read(key, value);
    return value;
  } else {
    IValue value;
    archive.read(key, value);
    if constexpr (std::is_same_v<T, std::tuple<double, double>>) {
      const std::vector<double>& pair = value.toDoubleVector();
      TORCH_CHECK(pair.size() == 2, "load: ", key, " has ", pair.size(), " numbers, not 2");
      return {pair[0], pair[1]};
    } else if constexpr (std::is_same_v<T, bool>) {
      return value.toBool();
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(value.toInt());
    } else {
      return static_cast<T>(value.toDouble());
    }
  }
}

}  // namespace torch::optim::detail

#define _TORCH_OPTIM_SERIALIZE_TORCH_ARG(name) \
  ::torch::optim::detail::write_arg(archive, #name, this->name())
#define _TORCH_OPTIM_DESERIALIZE_TORCH_ARG(T, name) \
  this->name(::torch::optim::detail::read_arg<T>(archive, #name))
