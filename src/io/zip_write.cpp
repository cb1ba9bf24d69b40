#include <algorithm>
#include <cstring>

#include "src/core/check.h"
#include "src/io/zip.h"

namespace groove::serialize {
namespace {

constexpr std::uint64_t kLimit = 0xffffffff;  // from here on a number stands in a 64-bit field

template <typename T>
void put(std::string& bytes, T value) {
  char text[sizeof value];
  std::memcpy(text, &value, sizeof value);
  bytes.append(text, sizeof value);
}

std::uint32_t narrow(std::uint64_t value) {
  return static_cast<std::uint32_t>(std::min(value, kLimit));
}

// The 64-bit forms of those numbers that need one.
std::string wide_field(std::initializer_list<std::uint64_t> values) {
  std::string wide, field;
  for (const std::uint64_t value : values)
    if (value >= kLimit) put(wide, value);
  if (wide.empty()) return field;
  put<std::uint16_t>(field, 1);
  put(field, static_cast<std::uint16_t>(wide.size()));
  return field + wide;
}

// What the two headers of an entry share: version, flags (names are UTF-8), stored, no time.
void put_entry(std::string& bytes, std::uint32_t checksum, std::uint64_t size,
               const std::string& name, const std::string& extra) {
  constexpr std::uint16_t kVersion = 45, kUtf8 = 0x800, kStored = 0;
  constexpr std::uint32_t kNoTime = 0x00210000;  // 1980-01-01
  put(bytes, kVersion);
  put(bytes, kUtf8);
  put(bytes, kStored);
  put(bytes, kNoTime);
  put(bytes, checksum);
  put(bytes, narrow(size));
  put(bytes, narrow(size));
  put(bytes, static_cast<std::uint16_t>(name.size()));
  put(bytes, static_cast<std::uint16_t>(extra.size()));
}

}  // namespace

void ZipWriter::add(const std::string& name, std::string_view content) {
  constexpr std::size_t kAlignment = 64, kHeader = 30, kFieldHeader = 4;
  constexpr std::uint16_t kPadding = 0x4246;  // as PyTorch's
  GROOVE_CHECK(name.size() < 65536, "save: a name of {} bytes", name.size());
  const std::uint32_t checksum = checksum_of(content);
  const Entry entry{name, checksum, content.size(), bytes_.size()};
  // A local header has both sizes or none.
  std::string extra = wide_field({entry.size, entry.size});
  const std::size_t begin = bytes_.size() + kHeader + name.size() + extra.size() + kFieldHeader;
  const std::size_t padding = (kAlignment - begin % kAlignment) % kAlignment;
  put(extra, kPadding);
  put(extra, static_cast<std::uint16_t>(padding));
  extra.append(padding, '\0');
  bytes_ += "PK\x03\x04";
  put_entry(bytes_, checksum, entry.size, name, extra);
  bytes_ += name + extra;
  bytes_ += content;
  entries_.push_back(entry);
}

std::string ZipWriter::finish() {
  const std::uint64_t directory = bytes_.size(), count = entries_.size();
  for (const Entry& entry : entries_) {
    const std::string extra = wide_field({entry.size, entry.size, entry.header});
    bytes_ += "PK\x01\x02";
    put<std::uint16_t>(bytes_, 45);
    put_entry(bytes_, entry.checksum, entry.size, entry.name, extra);
    put<std::uint16_t>(bytes_, 0);  // comment, disk, attributes
    put<std::uint16_t>(bytes_, 0);
    put<std::uint16_t>(bytes_, 0);
    put<std::uint32_t>(bytes_, 0);
    put(bytes_, narrow(entry.header));
    bytes_ += entry.name + extra;
  }
  const std::uint64_t size = bytes_.size() - directory;
  if (directory >= kLimit || count >= 0xffff) {
    const std::uint64_t end = bytes_.size();
    bytes_ += "PK\x06\x06";
    put<std::uint64_t>(bytes_, 44);
    put<std::uint16_t>(bytes_, 45);
    put<std::uint16_t>(bytes_, 45);
    put<std::uint64_t>(bytes_, 0);  // disks
    for (const std::uint64_t value : {count, count, size, directory}) put(bytes_, value);
    bytes_ += "PK\x06\x07";
    put<std::uint32_t>(bytes_, 0);
    put(bytes_, end);
    put<std::uint32_t>(bytes_, 1);
  }
  const auto few = static_cast<std::uint16_t>(std::min<std::uint64_t>(count, 0xffff));
  bytes_ += "PK\x05\x06";
  put<std::uint32_t>(bytes_, 0);
  put(bytes_, few);
  put(bytes_, few);
  put(bytes_, narrow(size));
  put(bytes_, narrow(directory));
  put<std::uint16_t>(bytes_, 0);
  return std::move(bytes_);
}

}  // namespace groove::serialize
