// c10::make_tempfile: a file that is gone with the object that names it.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "groove/error.h"

namespace c10 {

struct TempFile {
  TempFile(std::string path, int descriptor) : name(std::move(path)), fd(descriptor) {}
  TempFile(TempFile&& other) noexcept : name(std::move(other.name)), fd(other.fd) {
    other.name.clear();
    other.fd = -1;
  }
  TempFile& operator=(TempFile&& other) noexcept {
    std::swap(name, other.name);
    std::swap(fd, other.fd);
    return *this;
  }
  ~TempFile() {
    if (fd < 0) return;
    ::unlink(name.c_str());
    ::close(fd);
  }
  std::string name;
  int fd;
};

inline std::optional<TempFile> try_make_tempfile(const std::string& prefix = "torch-file-") {
  const char* const folder = std::getenv("TMPDIR");
  std::string path = std::string(folder ? folder : "/tmp") + "/" + prefix + "XXXXXX";
  const int descriptor = ::mkstemp(path.data());
  if (descriptor < 0) return std::nullopt;
  return std::make_optional<TempFile>(std::move(path), descriptor);
}
inline TempFile make_tempfile(const std::string& prefix = "torch-file-") {
  if (auto file = try_make_tempfile(prefix)) return std::move(*file);
  throw groove::Error("make_tempfile: a file named " + prefix + "… cannot be made");
}

}  // namespace c10
