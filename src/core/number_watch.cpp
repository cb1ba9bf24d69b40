// The innermost watch of each thread.
#include "src/core/number_watch.h"

#include <algorithm>

namespace groove {
namespace {
thread_local NumberWatch* active = nullptr;
}

NumberWatch::NumberWatch() : outer_(active) { active = this; }
NumberWatch::~NumberWatch() { active = outer_; }

bool NumberWatch::note(int origin) {
  if (!active) return false;
  std::vector<int>& read = active->read_;
  if (std::find(read.begin(), read.end(), origin) == read.end()) read.push_back(origin);
  return true;
}

}  // namespace groove
