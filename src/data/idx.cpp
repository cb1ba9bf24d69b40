#include "src/data/idx.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "src/core/check.h"

namespace groove::data {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 32;  // what a header may ask for

class GzipReader {
 public:
  explicit GzipReader(std::string path) : path_(std::move(path)) {
    std::error_code ignored;
    GROOVE_CHECK(!std::filesystem::is_directory(path_, ignored),
                 "{}: is a folder, not an IDX file; give the folder that contains it", path_);
    file_ = gzopen(path_.c_str(), "rb");
    GROOVE_CHECK(file_, "{}: cannot be opened ({}); check path and permissions", path_,
                 std::strerror(errno));
  }
  ~GzipReader() { gzclose(file_); }
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;

  // Fewer bytes only at the end of the file.
  std::size_t read(void* out, std::size_t bytes) {
    std::size_t done = 0;
    while (done < bytes) {
      const auto chunk = static_cast<unsigned>(std::min<std::size_t>(bytes - done, 1u << 20));
      const int got = gzread(file_, static_cast<char*>(out) + done, chunk);
      check(got);
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

 private:
  void check(int got) {
    int code = Z_OK;
    const char* reason = gzerror(file_, &code);
    GROOVE_CHECK(got >= 0 && (code == Z_OK || code == Z_STREAM_END),
                 "{}: cannot be read ({}); the file is damaged, fetch it again", path_, reason);
  }
  std::string path_;
  gzFile file_;
};

std::string existing(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) return path;
  if (std::filesystem::exists(path + ".gz", ignored)) return path + ".gz";
  throw_error(
      fmt::format("{}: there is neither this file nor {}.gz; check the data folder", path, path));
}

std::uint32_t big_endian(const unsigned char* bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
         std::uint32_t{bytes[2]} << 8 | std::uint32_t{bytes[3]};
}

}  // namespace

IdxFile read_idx(const std::string& path, int dims) {
  const std::string name = existing(path);
  GzipReader reader(name);
  unsigned char header[4 * 9];
  const std::size_t header_bytes = 4 + 4 * static_cast<std::size_t>(dims);
  const std::size_t got = reader.read(header, header_bytes);
  GROOVE_CHECK(got == header_bytes,
               "{}: ends after {} bytes, within its header of {}; fetch it again", name, got,
               header_bytes);
  const std::uint32_t magic = big_endian(header), expected = 0x800u + static_cast<unsigned>(dims);
  GROOVE_CHECK(magic == expected,
               "{}: magic number is {:#010x}, expected {:#010x} (unsigned bytes with {} axes); is "
               "this the right file?",
               name, magic, expected, dims);
  IdxFile file;
  std::int64_t total = 1;
  for (int i = 0; i < dims; ++i) {
    const std::int64_t size = big_endian(header + 4 + 4 * i);
    GROOVE_CHECK(size == 0 || total <= kMostBytes / size,
                 "{}: its header asks for more than {} bytes (axis {} has size {}); the file is "
                 "damaged, fetch it again",
                 name, kMostBytes, i, size);
    total *= size;
    file.sizes.push_back(size);
  }
  // Grows with what is really there, so that a lying header costs no memory.
  const auto wanted = static_cast<std::size_t>(total);
  while (file.values.size() < wanted) {
    const std::size_t at = file.values.size();
    const std::size_t chunk = std::min<std::size_t>(wanted - at, std::size_t{1} << 22);
    file.values.resize(at + chunk);
    const std::size_t part = reader.read(file.values.data() + at, chunk);
    GROOVE_CHECK(
        part == chunk,
        "{}: has {} bytes of values, its header announces {}; the file is cut short, fetch "
        "it again",
        name, at + part, wanted);
  }
  unsigned char extra;
  GROOVE_CHECK(reader.read(&extra, 1) == 0,
               "{}: goes on after the {} bytes its header announces; is it another file?", name,
               wanted);
  return file;
}

}  // namespace groove::data
