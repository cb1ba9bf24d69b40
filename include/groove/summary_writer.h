// Event files that TensorBoard shows. Not included by groove/groove.h.
//
//   SummaryWriter writer("runs/first");
//   writer.add_scalar("loss", loss.item<double>(), step);
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "groove/detail/owned.h"
#include "groove/tensor.h"

namespace groove {

/// As Python's torch.utils.tensorboard.SummaryWriter. Each call writes one record, whole, and it is
/// there for others at once. Several threads may use one writer. `wall_time` is in seconds since
/// 1970, now unless given. All throw groove::Error when the file cannot be written or a text is not
/// UTF-8.
class SummaryWriter {
 public:
  /// Makes the folder, and in it events.out.tfevents.<time>.<host>.<process>.<number><suffix>.
  explicit SummaryWriter(const std::string& log_dir, const std::string& filename_suffix = "",
                         Site site = Site::current());
  SummaryWriter(SummaryWriter&&) noexcept;
  SummaryWriter& operator=(SummaryWriter&&) noexcept;
  ~SummaryWriter();

  void add_scalar(const std::string& tag, double value, std::int64_t step = 0,
                  std::optional<double> wall_time = std::nullopt, Site site = Site::current());
  /// Curves in one picture: each has a folder <main_tag>_<name> and a file of its own.
  void add_scalars(const std::string& main_tag,
                   const std::vector<std::pair<std::string, double>>& values, std::int64_t step = 0,
                   std::optional<double> wall_time = std::nullopt, Site site = Site::current());
  /// How often which values occur among the elements of a tensor of any shape and dtype, in bins
  /// that grow by a tenth. Throws groove::Error when no element is finite; others are left out.
  void add_histogram(const std::string& tag, const Tensor& values, std::int64_t step = 0,
                     std::optional<double> wall_time = std::nullopt, Site site = Site::current());
  /// Shown as Markdown.
  void add_text(const std::string& tag, const std::string& text, std::int64_t step = 0,
                std::optional<double> wall_time = std::nullopt, Site site = Site::current());
  /// An image as PNG: [height, width] or [channels, height, width] with 1 (grey), 3 (red, green,
  /// blue) or 4 channels (and alpha); bytes, or numbers in [0, 1].
  void add_image(const std::string& tag, const Tensor& image, std::int64_t step = 0,
                 std::optional<double> wall_time = std::nullopt, Site site = Site::current());

  /// Brings all to the disk.
  void flush(Site site = Site::current());
  /// Nothing may be added then.
  void close();
  const std::string& log_dir() const;
  const std::string& path() const;

 private:
  struct State;
  State& open_state() const;
  detail::Owned<State> state_;
};

}  // namespace groove
