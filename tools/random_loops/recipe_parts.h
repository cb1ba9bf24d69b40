// Parts of a drawn training program: networks, data and the thread that makes them ready.
#pragma once

#include <groove/groove.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "tools/random_loops/random.h"
#include "tools/random_loops/recipe.h"

namespace groove::random_loops {

Tensor activate(const Recipe& recipe, const Tensor& x, Site site = Site::current());

// From rows of `inputs` numbers to rows of `outputs`; its layers are called on lines of their own,
// by a Sequential, or of another kind.
class NetworkImpl : public nn::Module {
 public:
  NetworkImpl(const Recipe& recipe, std::int64_t inputs, std::int64_t outputs, Body body);
  Tensor forward(const Tensor& x);

 private:
  Tensor through_layers(Tensor x);
  Tensor through_convolutions(Tensor x);
  Tensor through_attention(Tensor x);
  Recipe recipe_;
  Body body_;
  std::int64_t side_ = 0;  // of an image
  nn::Linear first_{nullptr}, second_{nullptr}, third_{nullptr}, fourth_{nullptr}, last_{nullptr};
  nn::LayerNorm layer_norm_{nullptr};
  nn::BatchNorm1d batch_norm_{nullptr};
  nn::Dropout dropout_{nullptr};
  nn::Conv2d conv1_{nullptr}, conv2_{nullptr};
  nn::Sequential sequence_{nullptr};
  nn::Linear query_{nullptr}, key_{nullptr}, value_{nullptr}, embed_{nullptr};
};
GROOVE_MODULE(Network);

struct Batch {
  Tensor x, y;
};

// Rows of numbers and what is to be learned from them, brought in as the recipe says.
class Source {
 public:
  Source(const Recipe& recipe, std::int64_t columns);
  Batch next(int step, std::int64_t rows);
  /// Also those of the loader thread, from here on.
  std::int64_t columns() const { return columns_; }

 private:
  Tensor inputs(int step, std::int64_t rows);
  Tensor targets(int step, const Tensor& x);
  float number(int step, std::int64_t row, std::int64_t column) const;
  std::vector<float> numbers(int step, std::int64_t rows) const;
  Recipe recipe_;
  std::int64_t columns_;
  Random random_;
  std::vector<float> memory_;  // under from_blob
  Tensor all_, order_;         // what slices and shuffled rows are taken from
  Tensor pointed_;             // a pointer into it is kept between iterations
  float* pointer_ = nullptr;
};

// Batches made ahead by a thread of their own, in order.
class Loader {
 public:
  Loader(Source& source, int steps, std::int64_t rows);
  ~Loader();
  Batch next();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Batch> ready_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace groove::random_loops
