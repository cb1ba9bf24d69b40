// A regular file that is read from its beginning on.
#pragma once

#include <cstddef>
#include <string>

namespace groove {

class InputFile {
 public:
  /// Throws groove::Error unless `path` is a regular file that may be read.
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  std::size_t size() const { return size_; }
  /// The next `size` bytes; throws when there are fewer.
  void read(void* bytes, std::size_t size);

 private:
  std::string path_;
  int file_;
  std::size_t size_ = 0;
};

/// All bytes of a regular file.
std::string bytes_of_file(const std::string& path);

}  // namespace groove
