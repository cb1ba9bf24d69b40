#include "jit/backends/llvm/places.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace groove::llvm_tier {
namespace {

std::string program_path() {
  std::array<char, PATH_MAX> path;
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  return length <= 0 ? std::string() : std::string(path.data(), static_cast<std::size_t>(length));
}

// The file that this code was loaded from, without links: libgroove.so is mostly reached by one.
std::string own_path() {
  Dl_info info;
  void* found = nullptr;
  if (dladdr1(reinterpret_cast<const void*>(&program_path), &info, &found, RTLD_DL_LINKMAP) == 0)
    return program_path();
  const char* const loaded = static_cast<const link_map*>(found)->l_name;
  if (loaded == nullptr || *loaded == '\0')
    return program_path();  // the name of the program itself
  std::array<char, PATH_MAX> path;
  return realpath(loaded, path.data()) != nullptr ? path.data() : loaded;
}

}  // namespace

std::vector<std::string> places_of(const std::string& file_name) {
  std::vector<std::string> paths;
  const std::string own = own_path();
  if (const std::size_t slash = own.rfind('/'); slash != std::string::npos) {
    const std::string folder = own.substr(0, slash + 1);
    paths.push_back(folder + file_name);
    paths.push_back(folder + "../lib/" + file_name);
  }
  paths.push_back(file_name);
  paths.push_back(GROOVE_LLVM_INSTALL_DIR "/" + file_name);
  return paths;
}

}  // namespace groove::llvm_tier
