#include "preprocessed.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace headers {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() {
    char pattern[] = "/tmp/groove_headers_XXXXXX";
    if (mkdtemp(pattern) == nullptr) throw std::runtime_error("there is no room in /tmp");
    path_ = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// Runs the compiler on a file and gives its user time.
double run(const std::string& compiler, const Library& library, const std::string& file,
           const char* what, const std::string& output) {
  std::vector<std::string> words{compiler, "-std=c++20", "-O2", what, file, "-o", output};
  for (const std::string& folder : library.folders) words.push_back("-I" + folder);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    setenv("CCACHE_DISABLE", "1", 1);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0)
    throw std::runtime_error(compiler + " does not compile " + file);
  return static_cast<double>(usage.ru_utime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec);
}

// `# 12 "file" 1 3`: the next line is line 12 of the file, which is entered here (1).
struct Marker {
  std::string file;
  bool is_entry = false;
};
bool read_marker(const std::string& line, Marker& marker) {
  if (line.size() < 3 || line[0] != '#' || line[1] != ' ') return false;
  const std::size_t begin = line.find('"'), end = line.rfind('"');
  if (begin == std::string::npos || end == begin) return false;
  marker.file = line.substr(begin + 1, end - begin - 1);
  marker.is_entry = line.compare(end + 1, 2, " 1") == 0;
  return true;
}

}  // namespace

std::string source_file(const std::string& name, const std::string& text) {
  static const Folder folder;
  const std::string path = (folder.path() / name).string();
  std::ofstream(path) << text;
  return path;
}

Preprocessed preprocess(const std::string& compiler, const Library& library) {
  const std::string source = source_file("preprocessed.cpp", "#include <" + library.header + ">\n");
  const std::string output = source + ".ii";
  run(compiler, library, source, "-E", output);
  const auto is_own = [&](const std::string& file) {
    for (const std::string& folder : library.folders) {
      if (file.starts_with(folder + "/")) return true;
    }
    return false;
  };
  Preprocessed result;
  Marker now;
  std::ifstream stream(output);
  for (std::string line; std::getline(stream, line);) {
    if (Marker next; read_marker(line, next)) {
      if (next.is_entry && next.file[0] == '/' && is_own(now.file) && !is_own(next.file))
        result.asked.push_back(next.file);
      now = next;
    } else if (line.find_first_not_of(" \t") != std::string::npos) {
      ++(is_own(now.file) ? result.own_lines : result.other_lines);
    }
  }
  if (result.own_lines == 0) throw std::runtime_error(library.header + " has no lines");
  return result;
}

double compile_seconds(const std::string& compiler, const Library& library,
                       const std::string& file) {
  return run(compiler, library, file, "-c", file + ".o");
}

}  // namespace headers
