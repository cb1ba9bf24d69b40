// Reads sources line by line; includes are recognised as the preprocessor's lines look in practice.
#include "rules.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

namespace project {
namespace fs = std::filesystem;

namespace {

const std::vector<std::string> kLayers = {"include/groove", "src/core", "kernels", "eager",
                                          "tracer",         "autodiff", "jit",     "src/nn",
                                          "src/optim",      "src/data", "src/io"};

const std::vector<std::string> kFolders = {"include", "src",      "kernels", "eager",
                                           "tracer",  "autodiff", "jit",     "tests",
                                           "samples", "bench",    "tools",   "cmake"};

const std::set<std::string> kExtensions = {".h", ".cpp", ".def", ".cu", ".cmake", ".sh"};

// Standard headers that cost a user's compilation too much, or drag threads and streams in.
const std::set<std::string> kHeavy = {
    "thread",     "mutex", "chrono",       "sstream", "iostream", "fstream", "future",
    "filesystem", "regex", "shared_mutex", "iomanip", "format",   "ranges",  "condition_variable",
    "unistd.h"};

bool starts_with(const std::string& text, const std::string& prefix) {
  return text.compare(0, prefix.size(), prefix) == 0;
}

bool is_file(const std::string& path) {
  return fs::is_regular_file(fs::path(GROOVE_SOURCE_DIR) / path);
}

// Standard headers have neither a folder nor an extension, POSIX's own one excepted.
bool is_standard(const std::string& target) {
  static const std::regex plain("[a-z_0-9]+|unistd\\.h");
  return std::regex_match(target, plain);
}

std::string describe(const std::string& file, const Include& include, const std::string& why) {
  return file + ":" + std::to_string(include.line) + ": includes " + include.target + ", " + why;
}

// The file of the project that an include names, relative to the root; empty if there is none.
std::string resolve(const std::string& file, const Include& include) {
  if (include.is_quoted) {
    const auto beside =
        (fs::path(file).parent_path() / include.target).lexically_normal().generic_string();
    if (is_file(beside)) return beside;
  }
  for (const char* root : {"", "include/", "include/groove/compat/"}) {
    const std::string path = root + include.target;
    if (is_file(path)) return path;
  }
  return {};
}

}  // namespace

std::vector<std::string> source_files() {
  std::vector<std::string> files;
  for (const auto& folder : kFolders) {
    const fs::path root = fs::path(GROOVE_SOURCE_DIR) / folder;
    if (!fs::is_directory(root)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      if (entry.is_regular_file() && kExtensions.count(entry.path().extension().string())) {
        files.push_back(fs::relative(entry.path(), GROOVE_SOURCE_DIR).generic_string());
      }
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> lines_of(const std::string& file) {
  std::ifstream stream(fs::path(GROOVE_SOURCE_DIR) / file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<Include> includes_of(const std::vector<std::string>& lines) {
  static const std::regex pattern(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
  std::vector<Include> includes;
  for (size_t i = 0; i < lines.size(); ++i) {
    std::smatch match;
    if (std::regex_search(lines[i], match, pattern)) {
      includes.push_back({match[2], match[1] == "\"", static_cast<int>(i) + 1});
    }
  }
  return includes;
}

int layer_of(const std::string& file) {
  for (size_t i = 0; i < kLayers.size(); ++i) {
    if (starts_with(file, kLayers[i] + "/")) return static_cast<int>(i);
  }
  return -1;
}

std::vector<std::string> layer_violations(const std::string& file,
                                          const std::vector<Include>& includes) {
  std::vector<std::string> violations;
  for (const auto& include : includes) {
    const std::string target = resolve(file, include);
    if (target.empty()) {
      if (include.is_quoted) {
        violations.push_back(describe(file, include, "which is no file of the project"));
      }
      continue;
    }
    const int layer = layer_of(target);
    if (layer < 0 || layer > layer_of(file)) {
      violations.push_back(describe(file, include, "which comes later in the order of layers"));
    }
  }
  return violations;
}

std::vector<std::string> public_header_violations(const std::string& file,
                                                  const std::vector<Include>& includes) {
  const bool may_be_heavy = starts_with(file, "include/groove/compat/");
  std::vector<std::string> violations;
  for (const auto& include : includes) {
    if (is_standard(include.target)) {
      if (!may_be_heavy && kHeavy.count(include.target)) {
        violations.push_back(describe(file, include, "too heavy for a public header"));
      }
    } else if (!starts_with(resolve(file, include), "include/groove/")) {
      violations.push_back(
          describe(file, include, "but public headers see only include/groove and the standard"));
    }
  }
  return violations;
}

}  // namespace project
