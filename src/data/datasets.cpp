#include "groove/data/datasets.h"

#include "groove/ops/views.h"
#include "src/core/check.h"
#include "src/core/tensor_impl.h"
#include "src/data/idx.h"

namespace groove::data::datasets {
namespace {

// Row `index` of a plain tensor, without a trip through the dispatcher.
Tensor row(const Tensor& tensor, std::size_t index) {
  const Geometry& all = tensor.impl()->geometry;
  Geometry one;
  one.sizes = Shape(all.sizes.data() + 1, all.sizes.size() - 1);
  one.strides = Shape(all.strides.data() + 1, all.strides.size() - 1);
  one.offset = all.offset + static_cast<std::int64_t>(index) * all.strides[0];
  return make_view(tensor, std::move(one));
}

}  // namespace

TensorDataset::TensorDataset(Tensor rows) : tensor(std::move(rows)) {}
TensorDataset::TensorDataset(const std::vector<Tensor>& tensors) : TensorDataset(stack(tensors)) {}
TensorExample TensorDataset::get(std::size_t index) {
  return select(tensor, 0, static_cast<std::int64_t>(index));
}
std::optional<std::size_t> TensorDataset::size() const {
  return static_cast<std::size_t>(tensor.size(0));
}

MNIST::MNIST(const std::string& root, Mode mode) : is_train_(mode == Mode::kTrain) {
  const std::string start = root + (is_train_ ? "/train" : "/t10k");
  const std::string image_path = start + "-images-idx3-ubyte";
  const std::string label_path = start + "-labels-idx1-ubyte";
  const IdxFile images = read_idx(image_path, 3);
  const IdxFile labels = read_idx(label_path, 1);
  GROOVE_CHECK(images.sizes[1] == 28 && images.sizes[2] == 28,
               "{}: images are {} x {}, MNIST's are 28 x 28; is this the right file?", image_path,
               images.sizes[1], images.sizes[2]);
  GROOVE_CHECK(images.sizes[0] == labels.sizes[0],
               "{}: holds {} images, but {} holds {} labels; fetch both again", image_path,
               images.sizes[0], label_path, labels.sizes[0]);
  for (std::size_t i = 0; i < labels.values.size(); ++i)
    GROOVE_CHECK(labels.values[i] < 10, "{}: label {} is {}; digits are 0 … 9, fetch it again",
                 label_path, i, labels.values[i]);
  images_ = make_empty(Shape{images.sizes[0], 1, 28, 28}, kFloat);
  targets_ = make_empty(Shape{labels.sizes[0]}, kLong);
  auto* pixels = static_cast<float*>(images_.impl()->data());
  for (std::size_t i = 0; i < images.values.size(); ++i)
    pixels[i] = static_cast<float>(images.values[i]) / 255.0f;
  auto* digits = static_cast<std::int64_t*>(targets_.impl()->data());
  for (std::size_t i = 0; i < labels.values.size(); ++i) digits[i] = labels.values[i];
}

Example<> MNIST::get(std::size_t index) {
  GROOVE_CHECK(index < *size(), "MNIST: index {} is out of range for {} digits", index, *size());
  return {row(images_, index), row(targets_, index)};
}

std::optional<std::size_t> MNIST::size() const {
  return static_cast<std::size_t>(images_.impl()->geometry.sizes[0]);
}

}  // namespace groove::data::datasets
