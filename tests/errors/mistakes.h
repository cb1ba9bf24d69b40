// Mistakes that programs make, and what their errors must say.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "groove/groove.h"

namespace groove::errors {

struct Mistake {
  const char* file;
  int line;          // of the mistake, which stands in this line or the next two
  std::string name;  // as the user wrote it; empty: the message begins otherwise
  std::vector<std::string> words;
  std::function<void()> make;
};

std::vector<Mistake>& mistakes();
inline bool add(Mistake mistake) {
  mistakes().push_back(std::move(mistake));
  return true;
}

}  // namespace groove::errors

#define GROOVE_ERRORS_JOIN(a, b) a##b
#define GROOVE_ERRORS_NAME(a, b) GROOVE_ERRORS_JOIN(a, b)
// The words are a list in parentheses; the mistake is the rest.
#define MISTAKE(name, words, ...)                                                \
  [[maybe_unused]] static const bool GROOVE_ERRORS_NAME(mistake_, __COUNTER__) = \
      ::groove::errors::add(                                                     \
          {__FILE__, __LINE__, name, std::vector<std::string> words, [] { __VA_ARGS__; }})
