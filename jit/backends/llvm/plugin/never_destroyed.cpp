// LLVM's statics, also those made in the midst of a compilation, are never destroyed: the compile
// thread may be inside LLVM while the process exits, and a handler of ours would run after theirs.
extern "C" __attribute__((visibility("hidden"))) int __cxa_atexit(void (*)(void*), void*,
                                                                   void*) noexcept {
  return 0;
}
