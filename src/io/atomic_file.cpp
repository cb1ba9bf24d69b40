#include "src/io/atomic_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "src/core/check.h"
#include "src/io/write_all.h"

namespace groove::serialize {
namespace fs = std::filesystem;

AtomicFile::AtomicFile(const std::string& path) : path_(path) {
  std::error_code ignored;
  // A link stays a link: its target is replaced.
  if (fs::is_symlink(path_, ignored)) {
    const fs::path target = fs::weakly_canonical(path_, ignored);
    if (!target.empty()) path_ = target.string();
  }
  const fs::file_status status = fs::status(path_, ignored);
  GROOVE_CHECK(!fs::exists(status) || fs::is_regular_file(status),
               "save: {}: is there already and no regular file", path_);
  partial_ = path_ + ".partial";
  open_partial();
}

// One name for the unfinished file, so that a killed process leaves at most one behind, and a lock
// on it against two writers. Between open and lock the file may have been renamed by its writer:
// then the name stands for another file, or none, and it is tried again.
void AtomicFile::open_partial() {
  for (;;) {
    file_ = ::open(partial_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (file_ < 0) fail("cannot be created");
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      ::close(file_);
      file_ = -1;
      throw_error(
          fmt::format("save: {}: is being written already; let one thread or process at a "
                      "time save to a path",
                      path_));
    }
    struct stat mine, named;
    if (::fstat(file_, &mine) != 0) fail("cannot be examined");
    if (::stat(partial_.c_str(), &named) == 0 && mine.st_ino == named.st_ino) break;
    ::close(file_);
  }
  if (::ftruncate(file_, 0) != 0) fail("cannot be emptied");
}

AtomicFile::~AtomicFile() {
  if (file_ < 0) return;
  ::unlink(partial_.c_str());
  ::close(file_);
}

void AtomicFile::fail(const char* action) const {
  throw_error(fmt::format("save: {}: {}: {}", partial_, action, std::strerror(errno)));
}

void AtomicFile::write(const void* bytes, std::size_t size) {
  if (!write_all(file_, bytes, size)) fail("cannot be written");
}

void AtomicFile::finish() {
  if (::fsync(file_) != 0) fail("cannot be brought to the disk");
  if (std::rename(partial_.c_str(), path_.c_str()) != 0) fail("cannot be renamed");
  ::close(file_);
  file_ = -1;
  fs::path folder = fs::path(path_).parent_path();
  if (folder.empty()) folder = ".";
  const int handle = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (handle < 0) return;  // a folder that may be written, but not read: the name is in place
  ::fsync(handle);
  ::close(handle);
}

}  // namespace groove::serialize
