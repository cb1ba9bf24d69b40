// Where libgroove-llvm.so is looked for.
#pragma once

#include <string>
#include <vector>

namespace groove::llvm_tier {

/// What dlopen() is to try, in this order: a path beside what this code lies in (the program, or
/// libgroove.so); in the lib/ next to that folder; the bare name, which the program's own search
/// path and the system's answer; the folder that Groove was configured to be installed to.
std::vector<std::string> places_of(const std::string& file_name);

}  // namespace groove::llvm_tier
