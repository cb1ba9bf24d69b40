// The name of a type as a program writes it.
#pragma once

#include <string>
#include <typeinfo>

namespace groove {

std::string type_name(const std::type_info& type);

}  // namespace groove
