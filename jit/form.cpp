// What calls, types and memory layouts are as words of a form.
#include "jit/form.h"

#include "src/core/hash.h"

namespace groove::jit {

std::size_t FormHash::operator()(const FormWords& words) const {
  return static_cast<std::size_t>(mixed_all(words.size(), words));
}

void FormWriter::add_type(const Type& type) {
  add(static_cast<std::int64_t>(type.dtype));
  add_list(type.sizes);
}

void FormWriter::add_geometry(const Geometry& geometry) {
  add_list(geometry.sizes);
  add_list(geometry.strides);
  add(geometry.offset);
}

void FormWriter::add_call(const Node& node, Numbers numbers) {
  add(node.op->id);
  add_list(node.attrs.words());
  add_list(node.numbers, [&](const NumberRef& number) {
    if (numbers == Numbers::kKinds) {
      add(static_cast<std::int64_t>(number.entry >= 0
                                        ? graph_.numbers[static_cast<std::size_t>(number.entry)]
                                        : number.constant.type()));
      return;
    }
    if (number.entry >= 0) {
      add_counted(entries_, number.entry);
      add(static_cast<std::int64_t>(graph_.numbers[static_cast<std::size_t>(number.entry)]));
      return;
    }
    const ScalarType kind = number.constant.type();
    add(-1);
    add(static_cast<std::int64_t>(kind));
    add(static_cast<std::int64_t>(number.constant.bits_as(kind)));
  });
}

void FormWriter::clear() {
  words_.clear();
  entries_.clear();
}

}  // namespace groove::jit
