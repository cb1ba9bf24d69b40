// What a compiler's preprocessor makes of one header: whose lines they are, and which standard
// headers the library's own ones ask for.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace headers {

struct Preprocessed {
  std::size_t own_lines = 0;       // not empty, of files below one of the library's folders
  std::size_t other_lines = 0;     // of all others
  std::vector<std::string> asked;  // the other files that own ones include first, as full paths
};

struct Library {
  std::string header;                // as a program includes it, such as torch/torch.h
  std::vector<std::string> folders;  // in which it is looked for; all below is the library's own
};

/// Throws when the compiler does not take the header.
Preprocessed preprocess(const std::string& compiler, const Library& library);

/// The compiler's user time for a file, in seconds; throws when it does not compile. Objects are
/// left in `file`.o.
double compile_seconds(const std::string& compiler, const Library& library,
                       const std::string& file);

/// A new file of a temporary folder with that text; all of them go at the end of the process.
std::string source_file(const std::string& name, const std::string& text);

}  // namespace headers
