// read_image(), and datasets of image files.
#include "groove/data/images.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "src/core/check.h"
#include "src/core/input_file.h"
#include "src/core/state.h"
#include "src/core/tensor_impl.h"
#include "src/data/image_file.h"

namespace groove::data {
namespace fs = std::filesystem;
namespace {

bool is_image(const fs::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return ending == ".pgm" || ending == ".ppm" || ending == ".pnm" || ending == ".bmp";
}

template <typename Iterator>
std::vector<fs::path> sorted(const fs::path& folder,
                             bool (*is_wanted)(const fs::directory_entry&)) {
  std::vector<fs::path> found;
  std::error_code error;
  for (Iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (is_wanted(*at)) found.push_back(at->path());
  GROOVE_CHECK(!error, "ImageFolder: {}: cannot be read: {}", folder.string(), error.message());
  std::sort(found.begin(), found.end());
  return found;
}

bool is_folder(const fs::directory_entry& entry) {
  std::error_code ignored;
  return entry.is_directory(ignored);
}
bool is_image_file(const fs::directory_entry& entry) {
  std::error_code ignored;
  return entry.is_regular_file(ignored) && is_image(entry.path());
}

// Red, green and blue as the eye weighs them (ITU-R 601), in 1/65536.
float grey_of(unsigned red, unsigned green, unsigned blue) {
  return static_cast<float>((red * 19595 + green * 38470 + blue * 7471 + 0x8000) >> 16);
}

}  // namespace

Image parse_image(std::string_view bytes, const std::string& file) {
  if (bytes.size() > 2 && bytes[0] == 'P' &&
      (bytes[1] == '2' || bytes[1] == '3' || bytes[1] == '5' || bytes[1] == '6'))
    return parse_pnm(bytes, file);
  GROOVE_CHECK(bytes.substr(0, 2) == "BM",
               "read_image: {}: is no PGM, PPM or BMP file; convert it to one of these", file);
  return parse_bmp(bytes, file);
}

Image read_image_file(const std::string& path) { return parse_image(bytes_of_file(path), path); }

Tensor read_image(const std::string& path, Site site) {
  const CallFrame frame(site);
  const Image image = read_image_file(path);
  const Shape sizes{image.channels, image.height, image.width};
  const Tensor pixels = make_empty(sizes, kByte);
  if (!image.values.empty())
    std::memcpy(pixels.impl()->data(), image.values.data(), image.values.size());
  note_given(sizes, false);
  return pixels;
}

namespace datasets {

ImageFolder::ImageFolder(const std::string& root, std::int64_t channels, Site site)
    : channels_(channels) {
  const CallFrame frame(site);
  GROOVE_CHECK(channels == 1 || channels == 3, "ImageFolder: images have 1 or 3 channels, not {}",
               channels);
  for (const fs::path& folder : sorted<fs::directory_iterator>(root, is_folder)) {
    const auto found = sorted<fs::recursive_directory_iterator>(folder, is_image_file);
    GROOVE_CHECK(!found.empty(), "ImageFolder: {}: holds no file .pgm, .ppm, .pnm or .bmp",
                 folder.string());
    for (const fs::path& path : found) paths_.push_back(path.string());
    classes_of_paths_.resize(paths_.size(), static_cast<std::int64_t>(classes_.size()));
    classes_.push_back(folder.filename().string());
  }
  GROOVE_CHECK(!classes_.empty(), "ImageFolder: {}: holds no folder; each class has one", root);
  targets_ = make_empty(Shape{static_cast<std::int64_t>(paths_.size())}, kLong);
  std::copy(classes_of_paths_.begin(), classes_of_paths_.end(),
            static_cast<std::int64_t*>(targets_.impl()->data()));
}

Example<> ImageFolder::get(std::size_t index) {
  GROOVE_CHECK(index < paths_.size(), "ImageFolder: index {} is out of range for {} images", index,
               paths_.size());
  const Image image = read_image_file(paths_[index]);
  const Tensor pixels = make_empty(Shape{channels_, image.height, image.width}, kFloat);
  auto* const out = static_cast<float*>(pixels.impl()->data());
  const std::size_t plane = image.values.size() / static_cast<std::size_t>(image.channels);
  const auto channels = static_cast<std::size_t>(channels_);
  const std::uint8_t* const in = image.values.data();
  if (channels == 1 && image.channels == 3) {
    for (std::size_t i = 0; i < plane; ++i)
      out[i] = grey_of(in[i], in[plane + i], in[2 * plane + i]) / 255.0f;
  } else {
    const std::size_t step = image.channels == 1 ? 0 : plane;
    for (std::size_t channel = 0; channel < channels; ++channel)
      for (std::size_t i = 0; i < plane; ++i)
        out[channel * plane + i] = static_cast<float>(in[channel * step + i]) / 255.0f;
  }
  const Tensor target = make_empty({}, kLong);
  *static_cast<std::int64_t*>(target.impl()->data()) = classes_of_paths_[index];
  return {pixels, target};
}

}  // namespace datasets
}  // namespace groove::data
