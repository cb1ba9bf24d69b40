// The user's place in the source: the last parameter of everything that a program can call.
#pragma once

#include <source_location>

#if !__has_builtin(__builtin_source_location)
#error "Groove needs a compiler that knows std::source_location: GCC 12, Clang 16, or newer"
#endif

namespace groove {

// One pointer to constant data that the compiler makes. It is a class of Groove's own so that no
// argument becomes one by accident: `{}`, nullptr or a number in the last place is not a place.
class Site {
  using Pointer = decltype(__builtin_source_location());

 public:
  /// As a default argument: where the call stands. (Its own default argument is the builtin: through
  /// std::source_location::current() GCC would tell the line of the declaration.)
  static consteval Site current(Pointer place = __builtin_source_location()) {
    return Site(Token(), std::source_location::current(place));
  }
  static constexpr Site at(std::source_location place) { return Site(Token(), place); }
  /// No place that a user wrote: library code that nobody called from a line.
  static constexpr Site none() { return Site(Token(), std::source_location()); }

  constexpr const char* file_name() const { return place_.file_name(); }
  constexpr std::uint_least32_t line() const { return place_.line(); }
  constexpr std::uint_least32_t column() const { return place_.column(); }

 private:
  struct Token {
    explicit constexpr Token() = default;
  };
  constexpr Site(Token, std::source_location place) : place_(place) {}

  std::source_location place_;
};
static_assert(sizeof(Site) == sizeof(void*));

}  // namespace groove
