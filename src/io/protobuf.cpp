#include "src/io/protobuf.h"

#include <cstring>

namespace groove::serialize {

void ProtoMessage::number(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) text_ += static_cast<char>(value | 0x80);
  text_ += static_cast<char>(value);
}

void ProtoMessage::key(int field, WireType type) {
  number(static_cast<std::uint64_t>(field) << 3 | type);
}

template <typename T>
void ProtoMessage::fixed(T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  text_.append(bytes, sizeof value);
}

ProtoMessage& ProtoMessage::varint(int field, std::uint64_t value) {
  key(field, kVarint);
  number(value);
  return *this;
}
ProtoMessage& ProtoMessage::float32(int field, float value) {
  key(field, kFixed32);
  fixed(value);
  return *this;
}
ProtoMessage& ProtoMessage::float64(int field, double value) {
  key(field, kFixed64);
  fixed(value);
  return *this;
}
ProtoMessage& ProtoMessage::bytes(int field, std::string_view value) {
  key(field, kSized);
  number(value.size());
  text_ += value;
  return *this;
}
ProtoMessage& ProtoMessage::float64s(int field, const std::vector<double>& values) {
  key(field, kSized);
  number(values.size() * sizeof(double));
  for (const double value : values) fixed(value);
  return *this;
}

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = [&](std::size_t i) -> unsigned {
      return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
    };
    const unsigned first = byte(at);
    const std::size_t more = first < 0x80 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    if ((first >= 0x80 && first < 0xc2) || first > 0xf4) return false;
    for (std::size_t i = 1; i <= more; ++i)
      if ((byte(at + i) & 0xc0) != 0x80) return false;
    // Longer than need be, surrogates, and beyond the last character.
    const unsigned second = byte(at + 1);
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second >= 0xa0) ||
        (first == 0xf0 && second < 0x90) || (first == 0xf4 && second >= 0x90))
      return false;
    at += 1 + more;
  }
  return true;
}

}  // namespace groove::serialize
