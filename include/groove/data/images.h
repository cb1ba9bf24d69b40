// Image files, and folders of them by class.
#pragma once

#include <string>
#include <vector>

#include "groove/data/datasets.h"

namespace groove::data {

/// The pixels of a file: u8 [channels, height, width], with 1 channel (grey) or 3 (red, green,
/// blue). Reads PGM and PPM (P2, P3, P5, P6; other depths are scaled to 255) and BMP (8, 24 and 32
/// bits, not compressed; without the transparency). Throws groove::Error naming the file.
Tensor read_image(const std::string& path, Site site = Site::current());

namespace datasets {

/// The images below root/class/, a folder for each class. The classes are numbered in the order of
/// their names, the images are in the order of their paths; what does not end with .pgm, .ppm, .pnm
/// or .bmp is left out. A file is read when its example is asked for: f32 [channels, height, width]
/// in [0, 1], as large as the file has it, and i64 [] for the class. Throws groove::Error when
/// there are no classes or one has no image.
class ImageFolder : public Dataset<ImageFolder> {
 public:
  /// With 3 channels grey becomes colour; with 1 colour becomes grey (ITU-R 601).
  explicit ImageFolder(const std::string& root, std::int64_t channels = 3,
                       Site site = Site::current());
  Example<> get(std::size_t index) override;
  std::optional<std::size_t> size() const override { return paths_.size(); }
  const std::vector<std::string>& classes() const { return classes_; }
  const std::vector<std::string>& paths() const { return paths_; }
  /// i64 [size]
  const Tensor& targets() const { return targets_; }

 private:
  std::vector<std::string> classes_, paths_;
  std::vector<std::int64_t> classes_of_paths_;
  Tensor targets_;
  std::int64_t channels_;
};

}  // namespace datasets
}  // namespace groove::data
