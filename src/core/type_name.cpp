#include "src/core/type_name.h"

#include <cxxabi.h>

#include <cstdlib>

namespace groove {

std::string type_name(const std::type_info& type) {
  int status = 0;
  char* const text = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  std::string name = status == 0 ? text : type.name();
  std::free(text);
  return name;
}

}  // namespace groove
