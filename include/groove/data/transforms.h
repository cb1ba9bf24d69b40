// Transforms of batches and examples: what Dataset::map takes.
#pragma once

#include <functional>
#include <vector>

#include "groove/data/example.h"

namespace groove::data::transforms {

template <typename InputBatch, typename OutputBatch>
class BatchTransform {
 public:
  using InputBatchType = InputBatch;
  using OutputBatchType = OutputBatch;
  virtual ~BatchTransform() = default;
  virtual OutputBatch apply_batch(InputBatch batch) = 0;
};

/// Example by example.
template <typename Input, typename Output>
class Transform : public BatchTransform<std::vector<Input>, std::vector<Output>> {
 public:
  using InputType = Input;
  using OutputType = Output;
  virtual Output apply(Input input) = 0;
  std::vector<Output> apply_batch(std::vector<Input> batch) override {
    std::vector<Output> result;
    result.reserve(batch.size());
    for (Input& input : batch) result.push_back(apply(std::move(input)));
    return result;
  }
};

template <typename Batch, typename Examples = std::vector<Batch>>
using Collation = BatchTransform<Examples, Batch>;

template <typename Input, typename Output = Input>
class Lambda : public Transform<Input, Output> {
 public:
  using FunctionType = std::function<Output(Input)>;
  explicit Lambda(FunctionType function) : function_(std::move(function)) {}
  Output apply(Input input) override { return function_(std::move(input)); }

 private:
  FunctionType function_;
};

template <typename Input, typename Output = Input>
class BatchLambda : public BatchTransform<Input, Output> {
 public:
  using FunctionType = std::function<Output(Input)>;
  explicit BatchLambda(FunctionType function) : function_(std::move(function)) {}
  Output apply_batch(Input input) override { return function_(std::move(input)); }

 private:
  FunctionType function_;
};

/// A function of a list of examples that makes a batch of them.
template <typename Batch, typename Examples = std::vector<Batch>>
using Collate = BatchLambda<Examples, Batch>;

/// A transform of the data tensor that leaves the target alone.
template <typename Target = Tensor>
class TensorTransform : public Transform<Example<Tensor, Target>, Example<Tensor, Target>> {
 public:
  using E = Example<Tensor, Target>;
  virtual Tensor operator()(Tensor input) = 0;
  E apply(E input) override {
    input.data = (*this)(std::move(input.data));
    return input;
  }
};

template <typename Target = Tensor>
class TensorLambda : public TensorTransform<Target> {
 public:
  using FunctionType = std::function<Tensor(Tensor)>;
  explicit TensorLambda(FunctionType function) : function_(std::move(function)) {}
  Tensor operator()(Tensor input) override { return function_(std::move(input)); }

 private:
  FunctionType function_;
};

namespace detail {
/// (tensor - mean) / stddev; one mean for all or one per channel: statistics are [channels, 1, 1].
class Normalizer {
 public:
  Normalizer(std::vector<double> mean, std::vector<double> stddev);
  Tensor operator()(const Tensor& tensor) const;
  /// All at once into one memory, row after row; false when they are not plain f32 images of one
  /// shape (then nothing is done).
  bool apply_all(std::vector<Tensor*>& tensors) const;

 private:
  Tensor mean_, stddev_;
};
/// As groove::stack along a new first axis; rows that already lie one after the other in a memory
/// of their own are not copied.
Tensor stack_rows(std::vector<Tensor> rows);
}  // namespace detail

template <typename Target = Tensor>
class Normalize : public TensorTransform<Target> {
 public:
  Normalize(ArrayRef<double> mean, ArrayRef<double> stddev)
      : normalizer_(mean.vec(), stddev.vec()) {}
  Tensor operator()(Tensor input) override { return normalizer_(input); }
  std::vector<Example<Tensor, Target>> apply_batch(
      std::vector<Example<Tensor, Target>> batch) override {
    std::vector<Tensor*> tensors;
    tensors.reserve(batch.size());
    for (auto& example : batch) tensors.push_back(&example.data);
    if (normalizer_.apply_all(tensors)) return batch;
    for (Tensor* tensor : tensors) *tensor = normalizer_(*tensor);
    return batch;
  }

 private:
  detail::Normalizer normalizer_;
};

/// Examples of tensors become one example of stacked tensors.
template <typename E = Example<>>
struct Stack;

template <>
struct Stack<Example<>> : public Collation<Example<>> {
  Example<> apply_batch(std::vector<Example<>> examples) override;
};

template <>
struct Stack<TensorExample> : public Collation<Example<Tensor, example::NoTarget>> {
  TensorExample apply_batch(std::vector<TensorExample> examples) override;
};

}  // namespace groove::data::transforms
