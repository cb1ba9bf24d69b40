// The house rules that a program can check: which files there are, and what a file includes.
#pragma once

#include <string>
#include <vector>

namespace project {

/// Source files under the project's own folders, as paths relative to its root, sorted.
std::vector<std::string> source_files();

std::vector<std::string> lines_of(const std::string& file);

struct Include {
  std::string target;  // what stands between the quotes or brackets
  bool is_quoted = false;
  int line = 0;
};
std::vector<Include> includes_of(const std::vector<std::string>& lines);

/// Position of the file's folder in the order of layers, or -1 for a file outside of it (tests,
/// samples, …). Public headers come before everything.
int layer_of(const std::string& file);

/// One sentence for each include that breaks a rule.
std::vector<std::string> layer_violations(const std::string& file,
                                          const std::vector<Include>& includes);
/// Public headers are light, those for LibTorch programs excepted (include/groove/compat).
std::vector<std::string> public_header_violations(const std::string& file,
                                                  const std::vector<Include>& includes);

}  // namespace project
