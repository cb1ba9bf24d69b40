// Starting a library's process and talking to it.
#include "contestant.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

namespace {

// glibc's malloc returns large blocks to the kernel and costs LibTorch up to 4x in page faults; the
// comparison is only fair with that tuned away.
constexpr const char* kTunedMalloc[] = {
    "MALLOC_MMAP_THRESHOLD_=4294967296", "MALLOC_TRIM_THRESHOLD_=8589934592",
    "MALLOC_TOP_PAD_=268435456", "GLIBC_TUNABLES=glibc.malloc.hugetlb=1"};

[[noreturn]] void fail(const std::string& message) { throw std::runtime_error(message); }

}  // namespace

Contestant::Contestant(const Library& library, const std::string& anchor, int threads)
    : library_(library), threads_(threads) {
  std::vector<std::string> command = library.command;
  command.push_back(anchor);
  command.push_back(std::to_string(threads));
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int to_child[2], from_child[2];
  if (pipe(to_child) != 0 || pipe(from_child) != 0) fail("pipe failed");
  child_ = fork();
  if (child_ < 0) fail("fork failed");
  if (child_ == 0) {
    dup2(to_child[0], STDIN_FILENO);
    dup2(from_child[1], STDOUT_FILENO);
    // Every pipe end but its own, or no contestant would ever see the end of its input.
    for (int fd = 3; fd < 256; ++fd) close(fd);
    if (library.is_peer) {
      for (const char* setting : kTunedMalloc) putenv(const_cast<char*>(setting));
    }
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  close(to_child[0]);
  close(from_child[1]);
  input_ = fdopen(to_child[1], "w");
  output_ = fdopen(from_child[0], "r");
  name_ = library.key + " on " + anchor;
  try {
    const std::string first = read_line();
    if (first.rfind("none", 0) == 0) {
      missing_ = first;
    } else {
      name_ = first;
    }
  } catch (...) {
    end();
    throw;
  }
}

Contestant::~Contestant() { end(); }

void Contestant::end() {
  std::fclose(input_);
  std::fclose(output_);
  waitpid(child_, nullptr, 0);
}

Answer Contestant::run(long long steps) {
  std::fprintf(input_, "%lld\n", steps);
  std::fflush(input_);
  Answer answer;
  const std::string line = read_line();
  if (std::sscanf(line.c_str(), "%lf %lf %lld %lf", &answer.seconds, &answer.loss,
                  &answer.compiled_steps, &answer.compile_seconds) < 2) {
    fail(name_ + " answered `" + line + "`");
  }
  answer.since_start =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  return answer;
}

std::string Contestant::read_line() {
  char line[256];
  if (!std::fgets(line, sizeof line, output_)) fail(name_ + " ended early");
  std::string text = line;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}
