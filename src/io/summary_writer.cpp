// What TensorBoard's messages are made of: the numbers of the fields are those of
// tensorflow/core/util/event.proto and framework/{summary,tensor,histogram}.proto.
#include "groove/summary_writer.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>

#include "src/core/check.h"
#include "src/core/host_value.h"
#include "src/core/tensor_impl.h"
#include "src/io/elements.h"
#include "src/io/event_file.h"
#include "src/io/png.h"
#include "src/io/protobuf.h"

namespace groove {
namespace {

using serialize::ProtoMessage;

void check_text(const std::string& text, const char* what) {
  GROOVE_CHECK(serialize::is_utf8(text), "SummaryWriter: the {} is not valid UTF-8", what);
}

ProtoMessage value_of(const std::string& tag) {
  check_text(tag, "tag");
  return ProtoMessage().bytes(1, tag);
}

std::string event_of(const ProtoMessage& value, std::int64_t step,
                     std::optional<double> wall_time) {
  ProtoMessage event;
  event.float64(1, wall_time.value_or(serialize::wall_clock()));
  if (step != 0) event.varint(2, static_cast<std::uint64_t>(step));
  return event.message(5, ProtoMessage().message(1, value)).text();
}

// The elements in row-major order.
std::vector<double> numbers_of(const Tensor& tensor) {
  GROOVE_CHECK(tensor.defined(), "SummaryWriter: the tensor is undefined; give it a value first");
  std::vector<double> numbers;
  numbers.reserve(static_cast<std::size_t>(tensor.numel()));
  const ScalarType dtype = tensor.scalar_type();
  serialize::each_piece(tensor, [&](const void* bytes, std::size_t size) {
    const auto* const begin = static_cast<const char*>(bytes);
    for (std::size_t at = 0; at < size; at += element_size(dtype))
      numbers.push_back(host_value(begin + at, dtype).to_double());
  });
  return numbers;
}

// Limits of bins that are a tenth wider each, on both sides of 0: those of TensorFlow.
const std::vector<double>& bin_limits() {
  static const std::vector<double> limits = [] {
    std::vector<double> positive, all;
    for (double value = 1e-12; value < 1e20; value *= 1.1) positive.push_back(value);
    for (std::size_t i = positive.size(); i-- > 0;) all.push_back(-positive[i]);
    all.push_back(0);
    all.insert(all.end(), positive.begin(), positive.end());
    return all;
  }();
  return limits;
}

// A bin holds its lower limit. Written are those from the first that holds something to the last,
// by their upper limits, and an empty one before them, which tells the lower limit of the first.
ProtoMessage histogram_of(std::vector<double> values) {
  values.erase(std::remove_if(values.begin(), values.end(),
                              [](double value) { return !std::isfinite(value); }),
               values.end());
  GROOVE_CHECK(!values.empty(), "add_histogram: the tensor has no finite element");
  const std::vector<double>& limits = bin_limits();
  std::vector<double> counts(limits.size() - 1);
  double sum = 0, squares = 0;
  std::size_t first = counts.size(), last = 0;
  for (const double value : values) {
    sum += value;
    squares += value * value;
    const auto above = std::upper_bound(limits.begin() + 1, limits.end() - 1, value);
    const auto bin = static_cast<std::size_t>(above - limits.begin()) - 1;
    counts[bin] += 1;
    first = std::min(first, bin);
    last = std::max(last, bin);
  }
  const auto place = [](const std::vector<double>& list, std::size_t i) {
    return list.begin() + static_cast<std::ptrdiff_t>(i);
  };
  std::vector<double> shown = {0};
  shown.insert(shown.end(), place(counts, first), place(counts, last + 1));
  const std::vector<double> upper(place(limits, first), place(limits, last + 2));
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  ProtoMessage histogram;
  const double fields[] = {*low, *high, static_cast<double>(values.size()), sum, squares};
  for (int i = 0; i < 5; ++i)
    if (fields[i] != 0) histogram.float64(i + 1, fields[i]);
  return histogram.float64s(6, upper).float64s(7, shown);
}

ProtoMessage image_of(const Tensor& image) {
  GROOVE_CHECK(image.defined(), "SummaryWriter: the tensor is undefined; give it a value first");
  const std::int64_t dims = image.dim(), channels = dims == 3 ? image.size(0) : 1;
  GROOVE_CHECK((dims == 2 || dims == 3) && (channels == 1 || channels == 3 || channels == 4) &&
                   image.numel() > 0,
               "add_image: an image is [height, width] or [channels, height, width] with 1, 3 or 4 "
               "channels; this one has shape {}",
               to_string(image.sizes()));
  constexpr std::int64_t kMost = std::int64_t{1} << 28;
  GROOVE_CHECK(image.numel() <= kMost, "add_image: an image of {} values is too large",
               image.numel());
  const bool is_bytes = image.scalar_type() == kByte;
  const std::vector<double> numbers = numbers_of(image);
  const std::size_t depth = static_cast<std::size_t>(channels), plane = numbers.size() / depth;
  std::string pixels(numbers.size(), '\0');
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const float scaled = static_cast<float>(numbers[i]) * (is_bytes ? 1.0f : 255.0f);
    const float bounded = scaled > 0 ? std::min(scaled, 255.0f) : 0.0f;  // NaN is black
    pixels[i % plane * depth + i / plane] = static_cast<char>(static_cast<unsigned char>(bounded));
  }
  const auto height = static_cast<std::uint32_t>(image.size(-2)),
             width = static_cast<std::uint32_t>(image.size(-1)),
             form = static_cast<std::uint32_t>(channels);
  return ProtoMessage().varint(1, height).varint(2, width).varint(3, form).bytes(
      4, serialize::png_of(pixels, height, width, form));
}

ProtoMessage text_of(const std::string& text) {
  constexpr std::uint64_t kString = 7;
  const ProtoMessage shape = ProtoMessage().message(2, ProtoMessage().varint(1, 1));
  return ProtoMessage().varint(1, kString).message(2, shape).bytes(8, text);
}

}  // namespace

struct SummaryWriter::State {
  State(const std::string& folder, const std::string& ending)
      : log_dir(folder), suffix(ending), main(folder, ending) {}
  void write(serialize::EventFile& file, const ProtoMessage& value, std::int64_t step,
             std::optional<double> wall_time) {
    const std::string event = event_of(value, step, wall_time);
    const std::lock_guard lock(mutex);
    file.write(event);
  }
  serialize::EventFile& curve(const std::string& folder) {
    const std::lock_guard lock(mutex);
    auto& file = curves[folder];
    if (!file) file = std::make_unique<serialize::EventFile>(folder, suffix);
    return *file;
  }

  std::string log_dir, suffix;
  serialize::EventFile main;
  std::map<std::string, std::unique_ptr<serialize::EventFile>> curves;  // by their folders
  std::mutex mutex;
  std::atomic<bool> is_closed{false};
};

SummaryWriter::SummaryWriter(const std::string& log_dir, const std::string& filename_suffix,
                             Site site) {
  const CallFrame frame(site);
  state_ = std::make_unique<State>(log_dir, filename_suffix);
}
SummaryWriter::SummaryWriter(SummaryWriter&&) noexcept = default;
SummaryWriter& SummaryWriter::operator=(SummaryWriter&&) noexcept = default;
SummaryWriter::~SummaryWriter() = default;

SummaryWriter::State& SummaryWriter::open_state() const {
  GROOVE_CHECK(state_ && !state_->is_closed, "SummaryWriter: the writer is closed");
  return *state_;
}

void SummaryWriter::add_scalar(const std::string& tag, double value, std::int64_t step,
                               std::optional<double> wall_time, Site site) {
  const CallFrame frame(site);
  State& state = open_state();
  state.write(state.main, value_of(tag).float32(2, static_cast<float>(value)), step, wall_time);
}

void SummaryWriter::add_scalars(const std::string& main_tag,
                                const std::vector<std::pair<std::string, double>>& values,
                                std::int64_t step, std::optional<double> wall_time, Site site) {
  const CallFrame frame(site);
  State& state = open_state();
  std::string start = state.log_dir + "/" + main_tag;
  std::replace(start.begin() + static_cast<std::ptrdiff_t>(state.log_dir.size()) + 1, start.end(),
               '/', '_');
  for (const auto& [name, value] : values)
    state.write(state.curve(start + "_" + name),
                value_of(main_tag).float32(2, static_cast<float>(value)), step, wall_time);
}

void SummaryWriter::add_histogram(const std::string& tag, const Tensor& values, std::int64_t step,
                                  std::optional<double> wall_time, Site site) {
  const CallFrame frame(site);
  State& state = open_state();
  state.write(state.main, value_of(tag).message(5, histogram_of(numbers_of(values))), step,
              wall_time);
}

void SummaryWriter::add_text(const std::string& tag, const std::string& text, std::int64_t step,
                             std::optional<double> wall_time, Site site) {
  const CallFrame frame(site);
  State& state = open_state();
  check_text(text, "text");
  const ProtoMessage plugin = ProtoMessage().message(1, ProtoMessage().bytes(1, "text"));
  state.write(state.main,
              value_of(tag + "/text_summary").message(8, text_of(text)).message(9, plugin), step,
              wall_time);
}

void SummaryWriter::add_image(const std::string& tag, const Tensor& image, std::int64_t step,
                              std::optional<double> wall_time, Site site) {
  const CallFrame frame(site);
  State& state = open_state();
  state.write(state.main, value_of(tag).message(4, image_of(image)), step, wall_time);
}

void SummaryWriter::flush(Site site) {
  const CallFrame frame(site);
  State& state = open_state();
  const std::lock_guard lock(state.mutex);
  state.main.flush();
  for (const auto& [folder, file] : state.curves) file->flush();
}

void SummaryWriter::close() {
  if (state_) state_->is_closed = true;
}

const std::string& SummaryWriter::log_dir() const { return open_state().log_dir; }
const std::string& SummaryWriter::path() const { return open_state().main.path(); }

}  // namespace groove
