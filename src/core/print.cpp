// Printing of tensors as LibTorch prints them: one width and one scale factor a matrix, wide
// matrices in blocks of columns, then dtype and shape.
#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <ostream>
#include <vector>

#include "groove/tensor.h"
#include "groove/types.h"
#include "groove/warning.h"
#include "src/core/check.h"
#include "src/core/host_value.h"
#include "src/core/tensor_impl.h"

namespace groove {
namespace {

// The stream's own format comes back when printing ends.
class FormatGuard {
 public:
  explicit FormatGuard(std::ostream& out) : out_(out), saved_(nullptr) { saved_.copyfmt(out); }
  ~FormatGuard() { out_.copyfmt(saved_); }

 private:
  std::ostream& out_;
  std::ios saved_;
};

// Values as double, row-major: what LibTorch prints from.
std::vector<double> values_of(const Tensor& tensor) {
  TensorImpl& impl = *tensor.impl();
  if (impl.complex) warn("Casting complex values to real discards the imaginary part");
  host_read(impl);
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(impl.numel));
  const Geometry& geometry = impl.geometry;
  const std::size_t rank = geometry.sizes.size();
  const std::int64_t width = static_cast<std::int64_t>(element_size(impl.dtype));
  Shape at(rank, 0);
  std::int64_t offset = 0;
  for (std::int64_t k = 0; k < impl.numel; ++k) {
    values.push_back(
        host_value(static_cast<char*>(impl.data()) + offset * width, real_dtype(impl.dtype))
            .to_double());
    for (std::size_t i = rank; i-- > 0;) {
      offset += geometry.strides[i];
      if (++at[i] < geometry.sizes[i]) break;
      offset -= at[i] * geometry.strides[i];
      at[i] = 0;
    }
  }
  return values;
}

struct Format {
  double scale = 1;
  int width = 0;
};

// Chooses the stream's notation for a run of values and gives their scale and width.
Format choose_format(std::ostream& out, const double* values, std::int64_t count) {
  if (count == 0) return {};
  bool all_integers = true, has_finite = false;
  double lowest = 0, highest = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double value = values[i];
    if (value != std::ceil(value) && std::isfinite(value)) all_integers = false;
    if (!std::isfinite(value)) continue;
    const double size = std::fabs(value);
    lowest = has_finite ? std::min(lowest, size) : size;
    highest = has_finite ? std::max(highest, size) : size;
    has_finite = true;
  }
  const auto digits = [](double size) {
    return size == 0 ? 1 : static_cast<int>(std::floor(std::log10(size))) + 1;
  };
  const int low = has_finite ? digits(lowest) : 1;
  const int high = has_finite ? digits(highest) : 1;
  Format format;
  if (all_integers) {
    if (high > 9) {
      format.width = 11;
      out << std::scientific << std::setprecision(4);
    } else {
      format.width = high + 1;
      out << std::defaultfloat;
    }
  } else if (high - low > 4) {
    format.width = 11;
    if (std::abs(high) > 99 || std::abs(low) > 99) ++format.width;
    out << std::scientific << std::setprecision(4);
  } else {
    if (high > 5 || high < 0) {
      format.width = 7;
      format.scale = std::pow(10, high - 1);
    } else {
      format.width = high == 0 ? 7 : high + 6;
    }
    out << std::fixed << std::setprecision(4);
  }
  return format;
}

// LibTorch formats single numbers with fmt, as the shortest text that reads back the same.
void print_scale(std::ostream& out, double scale) { out << fmt::format("{} *\n", scale); }

void print_indent(std::ostream& out, int indent) {
  for (int i = 0; i < indent; ++i) out << ' ';
}

void print_matrix(std::ostream& out, const double* values, std::int64_t rows, std::int64_t columns,
                  int indent, std::int64_t line_width) {
  const Format format = choose_format(out, values, rows * columns);
  const std::int64_t per_line =
      std::max<std::int64_t>((line_width - indent) / (format.width + 1), 1);
  for (std::int64_t first = 0; first < columns; first += per_line) {
    const std::int64_t last = std::min(first + per_line, columns) - 1;
    if (per_line < columns) {
      if (first != 0) out << '\n';
      out << "Columns " << first + 1 << " to " << last + 1;
      print_indent(out, indent);
    }
    if (format.scale != 1) {
      print_scale(out, format.scale);
      print_indent(out, indent);
    }
    for (std::int64_t row = 0; row < rows; ++row) {
      // The first row of a block has no indent of its own, scaled later rows have one more.
      if (row > 0) print_indent(out, format.scale == 1 ? indent : indent + 1);
      for (std::int64_t column = first; column <= last; ++column) {
        out << std::setw(format.width) << values[row * columns + column] / format.scale;
        out << (column == last ? '\n' : ' ');
      }
    }
  }
}

// Every matrix over the last two axes, with its place among the leading ones.
void print_batches(std::ostream& out, const std::vector<double>& values, IntArrayRef sizes,
                   std::int64_t line_width) {
  const std::size_t lead = sizes.size() - 2;
  const std::int64_t rows = sizes[lead], columns = sizes[lead + 1];
  std::vector<std::int64_t> at(lead, 0);
  const std::int64_t batches = element_count(sizes.slice(0, lead));
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    if (batch != 0) out << '\n';
    out << '(';
    for (std::int64_t i : at) out << i + 1 << ',';
    out << ".,.) = \n";
    std::int64_t index = 0;
    for (std::size_t i = 0; i < lead; ++i) index = index * sizes[i] + at[i];
    print_matrix(out, values.data() + index * rows * columns, rows, columns, 1, line_width);
    for (std::size_t i = 0; i < lead; ++i) {  // as LibTorch counts: the first axis runs fastest
      if (++at[i] < sizes[i]) break;
      at[i] = 0;
    }
  }
}

}  // namespace

std::ostream& print(std::ostream& out, const Tensor& tensor, std::int64_t linesize) {
  const FormatGuard guard(out);
  if (!tensor.defined()) return out << "[ Tensor (undefined) ]";
  const std::vector<double> values = values_of(tensor);
  const IntArrayRef sizes = tensor.sizes();
  if (sizes.empty()) {
    out << fmt::format("{}\n", values[0]);
  } else if (!values.empty() && sizes.size() == 1) {
    const Format format = choose_format(out, values.data(), sizes[0]);
    if (format.scale != 1) print_scale(out, format.scale);
    for (double value : values) out << std::setw(format.width) << value / format.scale << '\n';
  } else if (!values.empty() && sizes.size() == 2) {
    print_matrix(out, values.data(), sizes[0], sizes[1], 0, linesize);
  } else if (!values.empty()) {
    print_batches(out, values, sizes, linesize);
  }
  out << "[ " << tensor.type() << "{";
  for (std::size_t i = 0; i < sizes.size(); ++i) out << (i ? "," : "") << sizes[i];
  return out << "} ]";
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  constexpr std::int64_t kLineWidth = 80;
  return print(out, tensor, kLineWidth);
}
void print(const Tensor& tensor, std::int64_t linesize) { print(std::cout, tensor, linesize); }

std::ostream& operator<<(std::ostream& out, TensorList tensors) {
  out << "[";
  for (std::size_t i = 0; i < tensors.size(); ++i) out << (i ? ", " : "") << tensors[i];
  return out << "]";
}

std::string DeprecatedTypeProperties::toString() const {
  return fmt::format("{}{}Type", is_cuda() ? "CUDA" : "CPU", name(dtype_));
}
std::ostream& operator<<(std::ostream& out, const DeprecatedTypeProperties& type) {
  return out << type.toString();
}
DeprecatedTypeProperties DataMethods::type(Site site) const {
  return {device(site), scalar_type(site)};
}
std::string DataMethods::toString() const {
  return defined() ? type().toString() : "UndefinedType";
}
void DataMethods::print() const {
  if (defined())
    std::cerr << '[' << toString() << ' ' << self().sizes() << "]\n";
  else
    std::cerr << "[UndefinedTensor]\n";
}

}  // namespace groove
