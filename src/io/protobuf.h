// Protocol buffers, written: the fields of a message one after the other, each with its number.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace groove::serialize {

class ProtoMessage {
 public:
  // Each returns the message itself. Zeros, which readers assume, are to be left out by the caller.
  ProtoMessage& varint(int field, std::uint64_t value);
  ProtoMessage& float32(int field, float value);
  ProtoMessage& float64(int field, double value);
  ProtoMessage& bytes(int field, std::string_view value);
  ProtoMessage& message(int field, const ProtoMessage& value) { return bytes(field, value.text_); }
  /// A repeated field of doubles, packed.
  ProtoMessage& float64s(int field, const std::vector<double>& values);
  const std::string& text() const { return text_; }

 private:
  enum WireType { kVarint = 0, kFixed64 = 1, kSized = 2, kFixed32 = 5 };
  void key(int field, WireType type);
  void number(std::uint64_t value);
  template <typename T>
  void fixed(T value);
  std::string text_;
};

/// What a field of texts must be.
bool is_utf8(std::string_view text);

}  // namespace groove::serialize
