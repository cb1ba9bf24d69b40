// The ways in which programs bring data into a loop.
#include <cmath>

#include "tools/random_loops/child.h"
#include "tools/random_loops/recipe_parts.h"

namespace groove::random_loops {
namespace {

constexpr std::int64_t kAll = 256;  // rows of what slices and shuffled rows are taken from

}  // namespace

Source::Source(const Recipe& recipe, std::int64_t columns)
    : recipe_(recipe), columns_(columns), random_(recipe.seed + 5) {
  memory_.resize(static_cast<std::size_t>(std::max<std::int64_t>(recipe.batch, 64) * columns));
  if (recipe.data == Data::kSlices || recipe.data == Data::kShuffled)
    all_ = groove::randn({kAll, columns});
  if (recipe.keeps_pointer) {
    pointed_ = groove::zeros({columns});
    pointer_ = pointed_.data_ptr<float>();
  }
}

float Source::number(int step, std::int64_t row, std::int64_t column) const {
  const auto at = static_cast<double>(step % 97 * 31 + row * 7 + column);
  return static_cast<float>(std::sin(at * 0.37) + 0.3 * std::cos(at * 1.7));
}
std::vector<float> Source::numbers(int step, std::int64_t rows) const {
  std::vector<float> made;
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t column = 0; column < columns_; ++column)
      made.push_back(number(step, row, column));
  return made;
}

Tensor Source::inputs(int step, std::int64_t rows) {
  switch (recipe_.data) {
    case Data::kPointerIntoEmpty: {
      auto x = groove::empty({rows, columns_});
      float* const to = x.data_ptr<float>();
      for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t column = 0; column < columns_; ++column)
          to[row * columns_ + column] = number(step, row, column);
      return x;
    }
    case Data::kPointerIntoZeros: {
      auto x = groove::zeros({rows, columns_});
      float* const to = x.data_ptr<float>();
      for (std::int64_t row = 0; row < rows; ++row)  // some stay zero
        to[row * columns_ + (row + step) % columns_] = number(step, row, 0);
      return x;
    }
    case Data::kAccessor: {
      auto x = groove::empty({rows, columns_});
      auto to = x.accessor<float, 2>();
      for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t column = 0; column < columns_; ++column)
          to[row][column] = number(step, row, column);
      return x;
    }
    case Data::kBlob:
    case Data::kBlobCloned: {
      for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t column = 0; column < columns_; ++column)
          memory_[static_cast<std::size_t>(row * columns_ + column)] = number(step, row, column);
      if (recipe_.data == Data::kBlob) return groove::from_blob(memory_.data(), {rows, columns_});
      return groove::from_blob(memory_.data(), {rows, columns_}).clone();
    }
    case Data::kVector:
      return groove::tensor(numbers(step, rows)).view({rows, columns_});
    case Data::kRows: {
      auto x = groove::empty({rows, columns_});
      for (std::int64_t row = 0; row < rows; ++row) {
        std::vector<float> values;
        for (std::int64_t column = 0; column < columns_; ++column)
          values.push_back(number(step, row, column));
        x[row] = groove::tensor(values);
      }
      return x;
    }
    case Data::kStack: {
      std::vector<Tensor> all;
      for (std::int64_t row = 0; row < rows; ++row) {
        std::vector<float> values;
        for (std::int64_t column = 0; column < columns_; ++column)
          values.push_back(number(step, row, column));
        all.push_back(groove::tensor(values));
      }
      return groove::stack(all);
    }
    case Data::kElements: {  // one hot, by a value of each row
      auto x = groove::zeros({rows, columns_});
      for (std::int64_t row = 0; row < rows; ++row) x[row][random_.below(int(columns_))] = 1;
      return x;
    }
    case Data::kMask: {
      const auto drawn = groove::randn({2 * rows, columns_});
      auto x = drawn.index({drawn.select(1, 0) > 0});
      return x.size(0) > 1 ? x : drawn;
    }
    case Data::kRandom:
      return groove::randn({rows, columns_});
    case Data::kSlices: {
      const std::int64_t from = step * recipe_.batch % (kAll - rows + 1);
      return all_.narrow(0, from, rows);
    }
    case Data::kShuffled: {
      const std::int64_t batches = std::max<std::int64_t>(1, kAll / recipe_.batch);
      if (step % batches == 0 || !order_.defined()) order_ = groove::randperm(kAll);
      return all_.index_select(
          0, order_.narrow(0, std::min(step % batches * recipe_.batch, kAll - rows), rows));
    }
  }
  return {};
}

Tensor Source::targets(int step, const Tensor& x) {
  const std::int64_t rows = x.size(0);
  if (!recipe_.is_classifier)
    return (x.sum(1, true) * 0.5).sin().expand({rows, recipe_.outputs}).contiguous();
  switch (recipe_.data) {
    case Data::kPointerIntoEmpty:
    case Data::kPointerIntoZeros: {
      auto y = groove::empty({rows}, groove::kLong);
      auto* const to = y.data_ptr<std::int64_t>();
      for (std::int64_t row = 0; row < rows; ++row) to[row] = (row + step) % recipe_.outputs;
      return y;
    }
    case Data::kAccessor: {
      auto y = groove::zeros({rows}, groove::kLong);
      auto to = y.accessor<std::int64_t, 1>();
      for (std::int64_t row = 0; row < rows; ++row) to[row] = (row * 3 + step) % recipe_.outputs;
      return y;
    }
    case Data::kBlob:
    case Data::kBlobCloned:
    case Data::kVector:
    case Data::kRows:
    case Data::kStack: {
      std::vector<std::int64_t> labels;
      for (std::int64_t row = 0; row < rows; ++row)
        labels.push_back((row + step) % recipe_.outputs);
      return groove::tensor(labels, groove::kLong);
    }
    default:
      return (x.sum(1).abs() * 10).to(groove::kLong) % recipe_.outputs;
  }
}

Batch Source::next(int step, std::int64_t rows) {
  if (pointer_) {
    pointer_[step % columns_] = static_cast<float>(step % 5) * 0.1f;
    const auto x = inputs(step, rows) + pointed_;
    return {x, targets(step, x)};
  }
  const auto x = inputs(step, rows);
  return {x, targets(step, x)};
}

Loader::Loader(Source& source, int steps, std::int64_t rows)
    : thread_([this, &source, steps, rows] {
        for (int step = 0; step < steps; ++step) {
          Batch batch = source.next(step, rows);
          std::unique_lock lock(mutex_);
          changed_.wait(lock, [&] { return ready_.size() < 4 || is_over_; });
          if (is_over_) break;
          ready_.push_back(std::move(batch));
          changed_.notify_all();
        }
        note_thread_end();
      }) {}

Loader::~Loader() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

Batch Loader::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !ready_.empty(); });
  Batch batch = std::move(ready_.front());
  ready_.pop_front();
  changed_.notify_all();
  return batch;
}

}  // namespace groove::random_loops
