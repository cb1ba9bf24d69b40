// How often the process has asked for memory so far: by C++'s allocation functions, Groove's calls
// and the program's alike.
#pragma once

#include <cstdint>

std::int64_t allocations();
