// The words of an operator's attributes, told apart: integers, which may follow from sizes, and the
// rest, which may not.
#pragma once

#include "src/core/op.h"

namespace groove {

/// Calls visit(type, begin, end) for each attribute, with the places of its words: of a list the
/// first is how many follow. Words that belong to no field are visited one by one, as booleans.
template <typename Visit>
void each_attribute(const Op& op, const Attrs& attrs, const Visit& visit) {
  const auto& words = attrs.words();
  std::size_t at = 0;
  for (const AttrField& field : op.attributes) {
    if (at >= words.size()) break;
    const std::size_t begin = at++;
    if (field.type == AttrType::kInts) at += static_cast<std::size_t>(words[begin]);
    visit(field.type, begin, at);
  }
  for (; at < words.size(); ++at) visit(AttrType::kBool, at, at + 1);
}

/// Calls integer(i) for each word that is an integer, other(word) for the rest.
template <typename Integer, typename Other>
void each_attribute_word(const Op& op, const Attrs& attrs, const Integer& integer,
                         const Other& other) {
  each_attribute(op, attrs, [&](AttrType type, std::size_t begin, std::size_t end) {
    if (type != AttrType::kInt) other(attrs.words()[begin++]);
    for (std::size_t i = begin; i < end; ++i) integer(i);
  });
}

/// The attributes with another word at `index`.
inline Attrs with_word(const Attrs& attrs, std::size_t index, std::int64_t word) {
  Attrs changed;
  for (std::size_t i = 0; i < attrs.words().size(); ++i)
    changed.add(i == index ? word : attrs.words()[i]);
  return changed;
}

}  // namespace groove
