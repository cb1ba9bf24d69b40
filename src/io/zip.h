// Zip files as PyTorch writes them: entries that are stored or deflated, with the 64-bit fields
// where they are wanted. PKWARE's APPNOTE 6.3 describes the format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace groove::serialize {

/// Does a file that begins so look like one? As many bytes as kZipMark tell.
inline constexpr std::size_t kZipMark = 4;
bool is_zip(std::string_view bytes);
/// CRC-32, which each entry has of its content.
std::uint32_t checksum_of(std::string_view bytes);

class ZipReader {
 public:
  /// `bytes` must outlive the reader; `source` is for messages. Throws groove::Error unless the
  /// directory is well-formed and all entries lie in the file.
  ZipReader(std::string_view bytes, std::string source);

  bool contains(const std::string& name) const { return entries_.count(name) > 0; }
  std::vector<std::string> names() const;
  /// Throws when there is none, or its bytes are not those that were written.
  std::string read(const std::string& name) const;
  const std::string& source() const { return source_; }

 private:
  struct Entry {
    std::uint16_t method;
    std::uint32_t checksum;
    std::uint64_t stored, size, header;  // bytes in the file, bytes of the content, where it begins
  };
  template <typename T>
  T number(std::uint64_t at) const;
  std::string_view piece(std::uint64_t at, std::uint64_t size) const;
  void read_directory(std::uint64_t at, std::uint64_t size, std::uint64_t count);
  [[noreturn]] void fail(const std::string& what) const;

  std::string_view bytes_;
  std::string source_;
  std::map<std::string, Entry> entries_;
};

/// Entries are stored as they are, each beginning at a multiple of 64 bytes.
class ZipWriter {
 public:
  void add(const std::string& name, std::string_view content);
  /// The whole file; nothing may be added then.
  std::string finish();

 private:
  struct Entry {
    std::string name;
    std::uint32_t checksum;
    std::uint64_t size, header;
  };
  std::string bytes_;
  std::vector<Entry> entries_;
};

}  // namespace groove::serialize
