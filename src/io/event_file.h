// TensorFlow's record files: the length of a record, its checksum, the record, its checksum.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace groove::serialize {

/// CRC-32C, of Castagnoli's polynomial.
std::uint32_t crc32c(std::string_view bytes);
/// A record with what stands around it; checksums are turned and shifted, as the format has it.
std::string framed_record(std::string_view record);

class EventFile {
 public:
  /// Makes the folder, the file and its first record, which tells the version.
  EventFile(const std::string& folder, const std::string& suffix);
  ~EventFile();
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;

  void write(std::string_view record);
  void flush();
  const std::string& path() const { return path_; }

 private:
  [[noreturn]] void fail(const char* action) const;
  std::string path_;
  int file_ = -1;
};

/// Seconds since 1970.
double wall_clock();

}  // namespace groove::serialize
