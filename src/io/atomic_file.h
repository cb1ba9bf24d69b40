// A file that appears whole or not at all: written under another name in the same folder, synced,
// and renamed over the old one.
#pragma once

#include <cstddef>
#include <string>

namespace groove::serialize {

class AtomicFile {
 public:
  /// Throws groove::Error when `path` cannot become a file, or when it is being written already.
  explicit AtomicFile(const std::string& path);
  /// Without finish() nothing remains.
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* bytes, std::size_t size);
  /// After this the file is at `path` and survives a loss of power.
  void finish();

 private:
  void open_partial();
  [[noreturn]] void fail(const char* action) const;
  std::string path_, partial_;
  int file_ = -1;
};

}  // namespace groove::serialize
