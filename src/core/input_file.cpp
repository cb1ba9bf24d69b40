#include "src/core/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "src/core/check.h"

namespace groove {

InputFile::InputFile(const std::string& path)
    : path_(path), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  GROOVE_CHECK(file_ >= 0, "load: {}: cannot be opened: {}", path, std::strerror(errno));
  struct stat status;
  const bool is_file = ::fstat(file_, &status) == 0 && S_ISREG(status.st_mode);
  if (is_file) size_ = static_cast<std::size_t>(status.st_size);
  if (!is_file) ::close(file_);
  GROOVE_CHECK(is_file, "load: {}: is no regular file", path);
}

InputFile::~InputFile() { ::close(file_); }

void InputFile::read(void* bytes, std::size_t size) {
  auto* at = static_cast<char*>(bytes);
  while (size > 0) {
    const ssize_t count = ::read(file_, at, size);
    if (count < 0 && errno == EINTR) continue;
    GROOVE_CHECK(count > 0, "load: {}: cannot be read: {}", path_,
                 count < 0 ? std::strerror(errno) : "the file became shorter meanwhile");
    at += count;
    size -= static_cast<std::size_t>(count);
  }
}

std::string bytes_of_file(const std::string& path) {
  InputFile file(path);
  std::string bytes(file.size(), '\0');
  file.read(bytes.data(), bytes.size());
  return bytes;
}

}  // namespace groove
