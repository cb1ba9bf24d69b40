#include "src/io/value_text.h"

#include <charconv>
#include <cmath>

#include "src/core/check.h"

namespace groove {
namespace serialize {
namespace {

template <typename T>
void append(std::string& text, T value) {
  char buffer[40];
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(value)) value = std::abs(value);                           // one spelling: "nan"
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;  // shortest exact form
  text += ' ';
  text.append(buffer, end);
}

// The numbers that make up all of the text, each after one space.
template <typename T>
std::optional<std::vector<T>> numbers(const char* at, const char* end) {
  std::vector<T> result;
  while (at != end) {
    T value;
    if (*at++ != ' ') return std::nullopt;
    const auto [next, status] = std::from_chars(at, end, value);
    if (status != std::errc()) return std::nullopt;
    result.push_back(value);
    at = next;
  }
  return result;
}

}  // namespace

std::string text_of(const IValue& value) {
  GROOVE_CHECK(!value.isTuple() && !value.isGenericDict() &&
                   (!value.isList() || value.isIntList() || value.isDoubleList()),
               "OutputArchive: a value must be a number, a text or a list of numbers; "
               "torch::pickle_save() takes tuples, dictionaries and other lists");
  if (value.isBool()) return value.toBool() ? "bool true" : "bool false";
  if (value.isString()) return "string " + value.toStringRef();
  std::string text = "none";
  if (value.isInt()) append(text = "int", value.toInt());
  if (value.isDouble()) append(text = "double", value.toDouble());
  if (value.isIntList()) {
    text = "ints";
    for (const std::int64_t one : value.toIntVector()) append(text, one);
  }
  if (value.isDoubleList()) {
    text = "doubles";
    for (const double one : value.toDoubleVector()) append(text, one);
  }
  return text;
}

std::optional<IValue> value_of(const std::string& text) {
  const std::size_t space = std::min(text.find(' '), text.size());
  const std::string kind = text.substr(0, space);
  const char *const rest = text.data() + space, *const end = text.data() + text.size();
  if (kind == "none" && rest == end) return IValue();
  if (kind == "string" && rest != end) return IValue(std::string(rest + 1, end));
  if (kind == "bool" && text == "bool true") return IValue(true);
  if (kind == "bool" && text == "bool false") return IValue(false);
  if (kind == "int" || kind == "ints") {
    auto list = numbers<std::int64_t>(rest, end);
    if (!list || (kind == "int" && list->size() != 1)) return std::nullopt;
    return kind == "int" ? IValue(list->front()) : IValue(std::move(*list));
  }
  if (kind == "double" || kind == "doubles") {
    auto list = numbers<double>(rest, end);
    if (!list || (kind == "double" && list->size() != 1)) return std::nullopt;
    return kind == "double" ? IValue(list->front()) : IValue(std::move(*list));
  }
  return std::nullopt;
}

}  // namespace serialize
}  // namespace groove
