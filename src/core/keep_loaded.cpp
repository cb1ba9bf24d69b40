#include "src/core/keep_loaded.h"

#include <dlfcn.h>
#include <link.h>

#include <mutex>
#include <unordered_set>

#include "src/core/fork.h"

namespace groove {
namespace {

const link_map* library_of(const void* constant) {
#if __GLIBC_PREREQ(2, 35)
  dl_find_object found;  // takes no lock
  return _dl_find_object(const_cast<void*>(constant), &found) == 0 ? found.dlfo_link_map : nullptr;
#else
  Dl_info info;
  void* found = nullptr;
  dladdr1(constant, &info, &found, RTLD_DL_LINKMAP);
  return static_cast<const link_map*>(found);
#endif
}

}  // namespace

void keep_loaded(const void* constant) {
  static std::mutex mutex;
  static auto& kept = *new std::unordered_set<const link_map*>;
  const link_map* const library = library_of(constant);
  if (library == nullptr || *library->l_name == '\0') return;
  {
    const ForkGate gate;
    const std::lock_guard lock(mutex);
    if (!kept.insert(library).second) return;
  }
  // A reference that is never given back.
  dlopen(library->l_name, RTLD_LAZY | RTLD_NOLOAD);
}

}  // namespace groove
