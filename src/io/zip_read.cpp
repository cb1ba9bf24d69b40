#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "src/core/check.h"
#include "src/io/zip.h"

namespace groove::serialize {
namespace {

constexpr std::uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50,
                        kEnd64 = 0x06064b50, kLocator64 = 0x07064b50;
constexpr std::uint32_t kIn64 = 0xffffffff;  // the field stands among the 64-bit ones
constexpr std::size_t kEndBytes = 22, kCentralBytes = 46, kLocalBytes = 30, kLocatorBytes = 20;
constexpr std::uint16_t kStored = 0, kDeflated = 8;

}  // namespace

std::uint32_t checksum_of(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

bool is_zip(std::string_view bytes) { return bytes.substr(0, 4) == "PK\x03\x04"; }

void ZipReader::fail(const std::string& what) const {
  throw_error(fmt::format("load: {}: {}; the file is damaged, or no zip file", source_, what));
}

std::string_view ZipReader::piece(std::uint64_t at, std::uint64_t size) const {
  if (at > bytes_.size() || size > bytes_.size() - at)
    fail(fmt::format("{} bytes at {} lie outside of the file's {}", size, at, bytes_.size()));
  return bytes_.substr(at, size);
}

template <typename T>
T ZipReader::number(std::uint64_t at) const {
  T value;
  std::memcpy(&value, piece(at, sizeof value).data(), sizeof value);
  return value;
}

ZipReader::ZipReader(std::string_view bytes, std::string source)
    : bytes_(bytes), source_(std::move(source)) {
  constexpr std::size_t kMostComment = 65535;
  if (bytes.size() < kEndBytes) fail(fmt::format("has {} bytes", bytes.size()));
  const std::size_t last = bytes.size() - kEndBytes;
  std::size_t end = last;
  while (number<std::uint32_t>(end) != kEnd) {
    if (end == 0 || last - end == kMostComment) fail("has no directory at its end");
    --end;
  }
  std::uint64_t count = number<std::uint16_t>(end + 10), size = number<std::uint32_t>(end + 12),
                at = number<std::uint32_t>(end + 16);
  if (end >= kLocatorBytes && number<std::uint32_t>(end - kLocatorBytes) == kLocator64) {
    const auto end64 = number<std::uint64_t>(end - kLocatorBytes + 8);
    if (number<std::uint32_t>(end64) != kEnd64) fail("has no 64-bit directory where it should be");
    count = number<std::uint64_t>(end64 + 32);
    size = number<std::uint64_t>(end64 + 40);
    at = number<std::uint64_t>(end64 + 48);
  }
  read_directory(at, size, count);
}

void ZipReader::read_directory(std::uint64_t at, std::uint64_t size, std::uint64_t count) {
  piece(at, size);
  for (const std::uint64_t end = at + size; count > 0; --count) {
    if (end - at < kCentralBytes || number<std::uint32_t>(at) != kCentral)
      fail("has a directory that is cut short");
    Entry entry{number<std::uint16_t>(at + 10), number<std::uint32_t>(at + 16),
                number<std::uint32_t>(at + 20), number<std::uint32_t>(at + 24),
                number<std::uint32_t>(at + 42)};
    const std::uint64_t name_size = number<std::uint16_t>(at + 28),
                        extra_size = number<std::uint16_t>(at + 30),
                        comment_size = number<std::uint16_t>(at + 32);
    if (end - at - kCentralBytes < name_size + extra_size + comment_size)
      fail("has a directory that is cut short");
    const std::string name(piece(at + kCentralBytes, name_size));
    std::uint64_t extra = at + kCentralBytes + name_size;
    const std::uint64_t extra_end = extra + extra_size;
    while (extra_end - extra >= 4) {
      const auto kind = number<std::uint16_t>(extra), length = number<std::uint16_t>(extra + 2);
      std::uint64_t field = extra + 4;
      if (length > extra_end - field) fail(fmt::format("'{}' has fields that are cut short", name));
      extra = field + length;
      if (kind != 1) continue;
      for (std::uint64_t* const value : {&entry.size, &entry.stored, &entry.header}) {
        if (*value != kIn64) continue;
        if (extra - field < 8) fail(fmt::format("'{}' lacks a 64-bit field", name));
        *value = number<std::uint64_t>(field);
        field += 8;
      }
    }
    at = extra_end + comment_size;
    if (!entries_.emplace(name, entry).second) fail(fmt::format("has two entries '{}'", name));
  }
}

std::vector<std::string> ZipReader::names() const {
  std::vector<std::string> all;
  for (const auto& [name, entry] : entries_) all.push_back(name);
  return all;
}

std::string ZipReader::read(const std::string& name) const {
  const auto found = entries_.find(name);
  if (found == entries_.end()) fail(fmt::format("has no entry '{}'", name));
  const Entry& entry = found->second;
  if (number<std::uint32_t>(entry.header) != kLocal)
    fail(fmt::format("'{}' does not begin where it should", name));
  const std::uint64_t begin = entry.header + kLocalBytes +
                              number<std::uint16_t>(entry.header + 26) +
                              number<std::uint16_t>(entry.header + 28);
  const std::string_view stored = piece(begin, entry.stored);
  std::string content;
  if (entry.method == kStored) {
    if (entry.stored != entry.size) fail(fmt::format("'{}' has two sizes", name));
    content = stored;
  } else if (entry.method == kDeflated) {
    // Deflating makes nothing smaller than this part of it.
    constexpr std::uint64_t kMostRatio = 1032;
    if (entry.size / kMostRatio > entry.stored)
      fail(fmt::format("'{}' says that it has {} bytes, packed in {}", name, entry.size,
                       entry.stored));
    content.resize(entry.size);
    z_stream stream{};
    GROOVE_ASSERT(inflateInit2(&stream, -MAX_WBITS) == Z_OK);
    std::size_t taken = 0, made = 0;
    int status = Z_OK;
    constexpr std::size_t kPiece = std::size_t{1} << 30;
    while (status == Z_OK) {
      const std::size_t in = std::min(kPiece, stored.size() - taken),
                        out = std::min(kPiece, content.size() - made);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(stored.data() + taken));
      stream.avail_in = static_cast<uInt>(in);
      stream.next_out = reinterpret_cast<Bytef*>(content.data() + made);
      stream.avail_out = static_cast<uInt>(out);
      status = inflate(&stream, Z_NO_FLUSH);
      const std::size_t used = in - stream.avail_in, came = out - stream.avail_out;
      if (status == Z_OK && used + came == 0) break;
      taken += used;
      made += came;
    }
    inflateEnd(&stream);
    if (status != Z_STREAM_END || made != content.size())
      fail(fmt::format("'{}' cannot be unpacked", name));
  } else {
    fail(fmt::format("'{}' is packed in way {}, which Groove does not know", name, entry.method));
  }
#ifndef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION  // see tests/fuzz/run
  if (checksum_of(content) != entry.checksum)
    fail(fmt::format("'{}' is not what was written: its checksum differs", name));
#endif
  return content;
}

}  // namespace groove::serialize
