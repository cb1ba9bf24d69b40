// The words of an operator's attributes, told apart: integers, which may follow from sizes, and the
// rest, which may not.
#pragma once

#include "src/core/op.h"

namespace groove {

/// Calls integer(i) for each word that is an integer, other(word) for the rest.
template <typename Integer, typename Other>
void each_attribute_word(const Op& op, const Attrs& attrs, const Integer& integer,
                         const Other& other) {
  const auto& words = attrs.words();
  std::size_t at = 0;
  for (const AttrField& field : op.attributes) {
    if (at >= words.size()) break;
    if (field.type == AttrType::kInts) {
      const auto count = static_cast<std::size_t>(words[at]);
      other(words[at++]);
      for (std::size_t i = 0; i < count; ++i) integer(at++);
    } else if (field.type == AttrType::kInt) {
      integer(at++);
    } else {
      other(words[at++]);
    }
  }
  for (; at < words.size(); ++at) other(words[at]);
}

/// The attributes with another word at `index`.
inline Attrs with_word(const Attrs& attrs, std::size_t index, std::int64_t word) {
  Attrs changed;
  for (std::size_t i = 0; i < attrs.words().size(); ++i)
    changed.add(i == index ? word : attrs.words()[i]);
  return changed;
}

}  // namespace groove
