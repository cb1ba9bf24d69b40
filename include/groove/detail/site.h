// The user's place in the source: the last parameter of everything that a program can call.
#pragma once

#include <cstdint>

#if __has_builtin(__builtin_source_location)
#include <source_location>
#elif !__has_builtin(__builtin_COLUMN)
#error "Groove needs GCC 12, Clang 14, or newer"
#endif

namespace groove {

namespace detail {
// Of a compiler that makes no constants of places: the one record of this place, for ever.
const void* kept_place(const char* file, std::uint_least32_t line, std::uint_least32_t column);
}  // namespace detail

// One pointer to constant data that the compiler makes. It is a class of Groove's own so that no
// argument becomes one by accident: `{}`, nullptr or a number in the last place is not a place.
class Site {
 public:
#if __has_builtin(__builtin_source_location)
  /// As a default argument: where the call stands. (Neither consteval nor through
  /// std::source_location::current(): GCC 12 would tell the line of the declaration.)
  static Site current(const void* place = __builtin_source_location()) {
    return Site(Token(), static_cast<const Record*>(place));
  }
#else
  // Clang 14 tells file, line and column but makes no constant of them: the library keeps a record,
  // so that these programs call the same functions as all others.
  static Site current(const char* file = __builtin_FILE(),
                      std::uint_least32_t line = __builtin_LINE(),
                      std::uint_least32_t column = __builtin_COLUMN()) {
    return Site(Token(), static_cast<const Record*>(detail::kept_place(file, line, column)));
  }
#endif
  /// No place that a user wrote: library code that nobody called from a line.
  static constexpr Site none() { return Site(Token(), nullptr); }

  constexpr const char* file_name() const { return place_ ? place_->file : ""; }
  constexpr std::uint_least32_t line() const { return place_ ? place_->line : 0; }
  constexpr std::uint_least32_t column() const { return place_ ? place_->column : 0; }

 private:
  struct [[gnu::may_alias]] Record {  // as std::source_location's of libstdc++ and libc++
    const char *file, *function;
    std::uint_least32_t line, column;
  };
  struct Token {
    explicit constexpr Token() = default;
  };
  constexpr Site(Token, const Record* place) : place_(place) {}

  const Record* place_;
};
static_assert(sizeof(Site) == sizeof(void*));

}  // namespace groove
