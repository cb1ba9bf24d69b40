#include "src/io/event_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>

#include "src/core/check.h"
#include "src/io/protobuf.h"
#include "src/io/write_all.h"

namespace groove::serialize {
namespace {

constexpr std::array<std::uint32_t, 256> make_table() {
  constexpr std::uint32_t kPolynomial = 0x82f63b78;  // its bits in reverse order
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? kPolynomial : 0);
    table[i] = value;
  }
  return table;
}
constexpr std::array<std::uint32_t, 256> kTable = make_table();

std::uint32_t masked(std::uint32_t checksum) {
  return (checksum >> 15 | checksum << 17) + 0xa282ead8u;
}

template <typename T>
std::string bytes_of(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  std::uint32_t value = ~std::uint32_t{0};
  for (const char byte : bytes)
    value = value >> 8 ^ kTable[(value ^ static_cast<unsigned char>(byte)) & 0xff];
  return ~value;
}

std::string framed_record(std::string_view record) {
  const std::string length = bytes_of(std::uint64_t{record.size()});
  std::string framed = length + bytes_of(masked(crc32c(length)));
  framed += record;
  return framed + bytes_of(masked(crc32c(record)));
}

double wall_clock() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

EventFile::EventFile(const std::string& folder, const std::string& suffix) {
  static std::atomic<int> count{0};
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  GROOVE_CHECK(!error, "SummaryWriter: {}: cannot be made: {}", folder, error.message());
  char host[256] = "";
  if (::gethostname(host, sizeof host - 1) != 0 || host[0] == '\0') std::strcpy(host, "localhost");
  const double now = wall_clock();
  path_ = fmt::format("{}/events.out.tfevents.{:010}.{}.{}.{}{}", folder,
                      static_cast<std::int64_t>(now), host, ::getpid(), count++, suffix);
  file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
  if (file_ < 0) fail("cannot be created");
  write(ProtoMessage().float64(1, now).bytes(3, "brain.Event:2").text());
}

EventFile::~EventFile() {
  if (file_ >= 0) ::close(file_);
}

void EventFile::fail(const char* action) const {
  throw_error(fmt::format("SummaryWriter: {}: {}: {}", path_, action, std::strerror(errno)));
}

void EventFile::write(std::string_view record) {
  const std::string framed = framed_record(record);
  if (!write_all(file_, framed.data(), framed.size())) fail("cannot be written");
}

void EventFile::flush() {
  if (::fsync(file_) != 0) fail("cannot be brought to the disk");
}

}  // namespace groove::serialize
