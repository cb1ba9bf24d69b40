// The programs of the page "How Groove finds and leaves compiled code", one for each reason.
#pragma once

#include <vector>

namespace groove::testing {

struct ReasonExample {
  const char* reason;
  void (*run)();
};
const std::vector<ReasonExample>& reason_examples();

}  // namespace groove::testing
