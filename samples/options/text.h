// Shakespeare's plays as numbers: a character's place in the sorted alphabet of the text.
#pragma once

#include <groove/groove.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

struct Text {
  // Throws unless the file has more than `least` characters.
  Text(const std::string& folder, size_t least) {
    const std::string path = folder + "/tiny_shakespeare.txt";
    std::ifstream file(path, std::ios::binary);
    std::stringstream content;
    content << file.rdbuf();
    const std::string plain = content.str();
    if (plain.size() <= least) throw std::runtime_error(path + " is missing or too short");
    alphabet = plain;
    std::sort(alphabet.begin(), alphabet.end());
    alphabet.erase(std::unique(alphabet.begin(), alphabet.end()), alphabet.end());
    std::vector<int64_t> codes;
    for (const char c : plain) codes.push_back(static_cast<int64_t>(alphabet.find(c)));
    characters = groove::tensor(codes);
  }

  std::string alphabet;
  groove::Tensor characters;
};
