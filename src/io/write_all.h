#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace groove::serialize {

/// Writes all bytes to an open file, whatever interrupts. False, with errno, when that fails.
inline bool write_all(int file, const void* bytes, std::size_t size) {
  const char* at = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t written = ::write(file, at, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    at += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

}  // namespace groove::serialize
