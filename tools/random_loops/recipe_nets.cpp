// Networks of drawn training programs.
#include <cmath>

#include "tools/random_loops/recipe_parts.h"

namespace groove::random_loops {

Tensor activate(const Recipe& recipe, const Tensor& x, Site site) {
  switch (recipe.activation) {
    case 0:
      return groove::relu(Arg(x, site));
    case 1:
      return groove::tanh(Arg(x, site));
    case 2:
      return groove::gelu(Arg(x, site));
    case 3:
      return groove::sigmoid(Arg(x, site));
    default:
      return groove::leaky_relu(Arg(x, site));
  }
}

NetworkImpl::NetworkImpl(const Recipe& recipe, std::int64_t inputs, std::int64_t outputs, Body body)
    : recipe_(recipe), body_(body) {
  const std::int64_t width = recipe.width;
  if (body == Body::kConvolution) {
    side_ = recipe.inputs <= 8 ? 8 : 12;
    const std::int64_t channels = std::min<std::int64_t>(width, 16);
    conv1_ = register_module("conv1", nn::Conv2d(nn::Conv2dOptions(1, channels, 3).padding(1)));
    conv2_ = register_module("conv2", nn::Conv2d(nn::Conv2dOptions(channels, channels, 3)));
    const std::int64_t left = side_ / 2 - 2;
    first_ = register_module("first", nn::Linear(channels * left * left, width));
  } else if (body == Body::kAttention) {
    embed_ = register_module("embed", nn::Linear(1, width));
    query_ = register_module("query", nn::Linear(width, width));
    key_ = register_module("key", nn::Linear(width, width));
    value_ = register_module("value", nn::Linear(width, width));
    layer_norm_ = register_module("norm", nn::LayerNorm(nn::LayerNormOptions({width})));
    first_ = register_module("first", nn::Linear(width, width));
  } else if (body == Body::kSequential) {
    sequence_ = nn::Sequential();
    for (int layer = 0; layer < recipe.layers; ++layer) {
      sequence_->push_back(nn::Linear(layer == 0 ? inputs : width, width));
      if (recipe.normalisation == 1)
        sequence_->push_back(nn::LayerNorm(nn::LayerNormOptions({width})));
      if (recipe.normalisation == 2) sequence_->push_back(nn::BatchNorm1d(width));
      if (recipe.activation == 1)
        sequence_->push_back(nn::Tanh());
      else
        sequence_->push_back(nn::ReLU());
      if (recipe.has_dropout) sequence_->push_back(nn::Dropout(0.2));
    }
    register_module("sequence", sequence_);
  } else {
    first_ = register_module("first", nn::Linear(inputs, width));
    if (recipe.layers > 1) second_ = register_module("second", nn::Linear(width, width));
    if (recipe.layers > 2) third_ = register_module("third", nn::Linear(width, width));
    if (recipe.layers > 3) fourth_ = register_module("fourth", nn::Linear(width, width));
    if (recipe.normalisation == 1)
      layer_norm_ = register_module("norm", nn::LayerNorm(nn::LayerNormOptions({width})));
    if (recipe.normalisation == 2) batch_norm_ = register_module("norm", nn::BatchNorm1d(width));
    if (recipe.has_dropout) dropout_ = register_module("dropout", nn::Dropout(0.2));
  }
  last_ = register_module("last", nn::Linear(width, outputs));
}

Tensor NetworkImpl::forward(const Tensor& x) {
  switch (body_) {
    case Body::kConvolution:
      return through_convolutions(x);
    case Body::kAttention:
      return through_attention(x);
    case Body::kSequential:
      return last_(sequence_->forward(x));
    default:
      return through_layers(x);
  }
}

Tensor NetworkImpl::through_layers(Tensor x) {
  x = activate(recipe_, first_(x));
  if (layer_norm_) x = layer_norm_(x);
  if (batch_norm_) x = batch_norm_(x);
  if (second_) x = activate(recipe_, second_(x));
  if (third_) x = activate(recipe_, third_(x));
  if (dropout_) x = dropout_(x);
  if (fourth_) x = activate(recipe_, fourth_(x)) + x;
  return last_(x);
}

Tensor NetworkImpl::through_convolutions(Tensor x) {
  x = x.view({x.size(0), 1, side_, side_});
  x = groove::max_pool2d(activate(recipe_, conv1_(x)), 2);
  x = activate(recipe_, conv2_(x));
  x = x.view({x.size(0), -1});
  return last_(activate(recipe_, first_(x)));
}

Tensor NetworkImpl::through_attention(Tensor x) {
  x = embed_(x.unsqueeze(2));  // [rows, columns, width]
  const auto query = query_(x), key = key_(x), value = value_(x);
  const double scale = std::sqrt(static_cast<double>(recipe_.width));
  auto weights = groove::matmul(query, key.transpose(1, 2)) / scale;
  weights = groove::softmax(weights, 2);
  x = layer_norm_(x + groove::matmul(weights, value));
  return last_(activate(recipe_, first_(x.mean(1))));
}

}  // namespace groove::random_loops
