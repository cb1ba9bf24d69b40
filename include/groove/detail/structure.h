// Values made of tensors: Tensor, lists, tuples and pairs of such values, and structs whose fields
// a free function groove_fields(value) gives as std::tie(…).
#pragma once

#include "groove/tensor.h"

namespace groove::detail {

template <typename T>
struct Structure {  // a struct with groove_fields()
  static void pack(Tensors& into, const T& value) {
    auto fields = groove_fields(const_cast<T&>(value));
    Structure<decltype(fields)>::pack(into, fields);
  }
  static T unpack(const T& like, const Tensors& from, std::size_t& at) {
    T result = like;
    auto fields = groove_fields(result);
    Structure<decltype(fields)>::assign(fields, from, at);
    return result;
  }
};
template <>
struct Structure<Tensor> {
  static void pack(Tensors& into, const Tensor& value) { into.push_back(value); }
  static Tensor unpack(const Tensor&, const Tensors& from, std::size_t& at) { return from[at++]; }
};
template <typename T>
struct Structure<std::vector<T>> {
  static void pack(Tensors& into, const std::vector<T>& values) {
    for (const T& value : values) Structure<T>::pack(into, value);
  }
  static std::vector<T> unpack(const std::vector<T>& like, const Tensors& from, std::size_t& at) {
    std::vector<T> result;
    for (const T& value : like) result.push_back(Structure<T>::unpack(value, from, at));
    return result;
  }
};
template <typename... T>
struct Structure<std::tuple<T...>> {
  static void pack(Tensors& into, const std::tuple<T...>& values) {
    std::apply(
        [&](const auto&... value) {
          (Structure<std::decay_t<decltype(value)>>::pack(into, value), ...);
        },
        values);
  }
  static std::tuple<T...> unpack(const std::tuple<T...>& like, const Tensors& from,
                                 std::size_t& at) {
    std::tuple<T...> result = like;
    assign(result, from, at);
    return result;
  }
  static void assign(std::tuple<T...>& values, const Tensors& from, std::size_t& at) {
    std::apply(
        [&](auto&... value) {
          ((value = Structure<std::decay_t<decltype(value)>>::unpack(value, from, at)), ...);
        },
        values);
  }
};
template <typename A, typename B>
struct Structure<std::pair<A, B>> {
  static void pack(Tensors& into, const std::pair<A, B>& value) {
    Structure<A>::pack(into, value.first);
    Structure<B>::pack(into, value.second);
  }
  static std::pair<A, B> unpack(const std::pair<A, B>& like, const Tensors& from, std::size_t& at) {
    A first = Structure<A>::unpack(like.first, from, at);
    return {std::move(first), Structure<B>::unpack(like.second, from, at)};
  }
};

template <typename T>
Tensors packed(const T& value) {
  Tensors result;
  Structure<T>::pack(result, value);
  return result;
}
template <typename T>
T unpacked(const T& like, const Tensors& from, std::size_t first = 0) {
  return Structure<T>::unpack(like, from, first);
}

}  // namespace groove::detail
