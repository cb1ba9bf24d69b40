// Recordings point to constants of the code that they were made of: the names of its files, its
// places. Operators that a plugin defines are its code. It therefore stays when it is closed.
#pragma once

namespace groove {

/// The library that `constant` lies in is loaded for ever; nothing for the program itself.
void keep_loaded(const void* constant);

}  // namespace groove
