// The numbers that make.py wrote, by name, and a comparison with them.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace groove::known {

/// Of a file in this folder.
inline const std::vector<double>& numbers(const std::string& file, const std::string& name) {
  static std::map<std::string, std::map<std::string, std::vector<double>>> files;
  auto& known = files[file];
  if (known.empty()) {
    std::ifstream stream(GROOVE_SOURCE_DIR "/tests/front/optimizers/" + file);
    std::vector<double>* current = nullptr;
    for (std::string line; std::getline(stream, line);) {
      if (line[0] == '#') continue;
      if (line[0] != ' ') {
        current = &known[line];
        continue;
      }
      std::istringstream row(line);
      for (double value; row >> value;) current->push_back(value);
    }
  }
  return known.at(name);
}

inline void expect_close(const std::string& what, const std::vector<double>& own,
                         const std::vector<double>& known, double tolerance) {
  ASSERT_EQ(own.size(), known.size()) << what;
  for (std::size_t i = 0; i < own.size(); ++i)
    EXPECT_NEAR(own[i], known[i], tolerance * std::max(1.0, std::abs(known[i])))
        << what << ", number " << i;
}

}  // namespace groove::known
