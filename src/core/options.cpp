// Devices as text, and the default dtype.
#include "groove/options.h"

#include <atomic>
#include <ostream>

#include "src/core/check.h"
#include "src/core/state.h"

namespace groove {
namespace {

struct DeviceName {
  DeviceType type;
  const char *text, *upper;
};
constexpr DeviceName kDeviceNames[] = {
    {kCPU, "cpu", "CPU"}, {kCUDA, "cuda", "CUDA"},
    {kMPS, "mps", "MPS"}, {kHIP, "hip", "HIP"},
    {kXLA, "xla", "XLA"}, {kVulkan, "vulkan", "VULKAN"},
    {kXPU, "xpu", "XPU"}, {kMeta, "meta", "META"},
    {kHPU, "hpu", "HPU"}, {kPrivateUse1, "privateuseone", "PRIVATEUSEONE"},
};
const DeviceName& name_of(DeviceType type) {
  for (const DeviceName& name : kDeviceNames)
    if (name.type == type) return name;
  GROOVE_CHECK(false, "DeviceType: {} is no kind of device", static_cast<int>(type));
}
std::atomic<ScalarType> default_dtype{kFloat};

}  // namespace

Device::Device(const std::string& text, Site site) {
  const std::size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  bool is_known = false;
  for (const DeviceName& name : kDeviceNames) {
    if (kind != name.text) continue;
    type_ = name.type;
    is_known = true;
  }
  if (colon != std::string::npos) {
    const std::string digits = text.substr(colon + 1);
    is_known = is_known && !digits.empty() && digits.size() <= 2 &&
               digits.find_first_not_of("0123456789") == std::string::npos;
    if (is_known) index_ = static_cast<std::int8_t>(std::stoi(digits));
  }
  GROOVE_CHECK_AT(site, is_known, "Device: cannot read \"{}\"; use \"cpu\", \"cuda\" or \"cuda:1\"",
                  text);
}

std::string Device::str() const {
  const std::string text = name_of(type_).text;
  return index_ < 0 ? text : fmt::format("{}:{}", text, index_);
}

std::ostream& operator<<(std::ostream& out, const Device& device) { return out << device.str(); }
std::ostream& operator<<(std::ostream& out, DeviceType type) { return out << name_of(type).text; }
std::string DeviceTypeName(DeviceType type, bool lower_case) {
  return lower_case ? name_of(type).text : name_of(type).upper;
}

std::ostream& operator<<(std::ostream& out, Layout layout) {
  return out << (layout == kSparse ? "Sparse" : "Strided");
}
std::ostream& operator<<(std::ostream& out, MemoryFormat format) {
  constexpr const char* kNames[] = {"Contiguous", "Preserve", "ChannelsLast", "ChannelsLast3d"};
  return out << kNames[static_cast<int>(format)];
}

void detail::check_place(const char* op, const TensorOptions& options) {
  GROOVE_CHECK(options.device().is_cpu(),
               "{}: device {} is not available: this build of Groove has no GPU backend", op,
               options.device().str());
  GROOVE_CHECK(options.layout() == kStrided,
               "{}: Groove has no sparse tensors; leave the layout out", op);
}

void detail::check_memory_format(const char* op, std::optional<MemoryFormat> format) {
  GROOVE_CHECK(!format || *format == MemoryFormat::Contiguous || *format == MemoryFormat::Preserve,
               "{}: Groove lays images out with channels first only; leave the memory format out",
               op);
}

TypeMeta TensorOptions::dtype() const { return TypeMeta(dtype_ ? *dtype_ : get_default_dtype()); }

TensorOptions TensorOptions::memory_format(std::optional<MemoryFormat> format) const {
  detail::check_memory_format("TensorOptions", format);
  return *this;
}

std::ostream& operator<<(std::ostream& out, const TensorOptions& options) {
  const auto field = [&out](const char* label, const auto& value, bool is_set) {
    out << std::boolalpha << label << value << (is_set ? "" : " (default)");
  };
  field("TensorOptions(dtype=", options.dtype(), options.has_dtype());
  field(", device=", options.device(), options.has_device());
  field(", layout=", options.layout(), options.has_layout());
  field(", requires_grad=", options.requires_grad(), options.has_requires_grad());
  field(", pinned_memory=", options.pinned_memory(), options.has_pinned_memory());
  return out << ", memory_format=(nullopt))";
}

ScalarType get_default_dtype() { return default_dtype.load(std::memory_order_relaxed); }

void set_default_dtype(ScalarType dtype, Site site) {
  GROOVE_CHECK_AT(site, is_floating(dtype), "set_default_dtype: {} is not a floating-point dtype",
                  name(dtype));
  default_dtype.store(dtype, std::memory_order_relaxed);
  detail::default_dtype_changes.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace groove
