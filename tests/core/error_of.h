// The text of the error that a call throws.
#pragma once

#include <string>

#include "groove/error.h"

namespace groove {

template <typename Function>
std::string error_of(const Function& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.msg();
  }
  return "no error";
}

}  // namespace groove
