// cross_entropy and nll_loss: rows, sequences and images, weights, classes that are ignored,
// smoothing, probabilities as targets; in every order of memory.
#include "cases.h"

using namespace agreement;
using torch::Tensor;
namespace F = torch::nn::functional;

namespace {

struct Shapes {
  const char* name;
  std::vector<std::int64_t> scores;
};
const Shapes kShapes[] = {{"one", {4}},
                          {"rows", {5, 4}},
                          {"sequence", {2, 4, 3}},
                          {"long sequence", {2, 4, 11}},
                          {"image", {2, 3, 4, 5}},
                          {"pixel", {3, 4, 1, 1}},
                          {"volume", {1, 3, 2, 3, 2}}};

// Classes 0 .. classes - 1 in a fixed pattern, some of them `ignored`.
Tensor classes_for(const std::vector<std::int64_t>& scores, std::int64_t ignored) {
  std::vector<std::int64_t> sizes = scores;
  const std::size_t axis = scores.size() == 1 ? 0 : 1;
  const std::int64_t classes = sizes[axis];
  sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(axis));
  const std::int64_t count = torch::empty(sizes).numel();
  Tensor result = torch::remainder(torch::arange(count) * 7 + 2, classes);
  if (ignored != 0 && count > 3)
    result = torch::where(torch::remainder(torch::arange(count), 4) == 1,
                          torch::full({}, ignored, torch::kLong), result);
  return result.reshape(sizes);
}

}  // namespace

CASE(cross_entropy) {
  for (const Shapes& shapes : kShapes) {
    const Tensor x = leaf(shapes.scores);
    const std::int64_t classes = shapes.scores[shapes.scores.size() == 1 ? 0 : 1];
    const Tensor weight = filled({classes}, 1).abs() + 0.1;
    for (const std::int64_t ignored : {std::int64_t{0}, std::int64_t{-100}, std::int64_t{1}}) {
      const Tensor target = classes_for(shapes.scores, ignored);
      const std::string name =
          shapes.name + std::string(ignored ? " ignoring " + std::to_string(ignored) : "");
      auto options = F::CrossEntropyFuncOptions();
      if (ignored) options.ignore_index(ignored);
      const auto loss = [&](F::CrossEntropyFuncOptions given) {
        return F::cross_entropy(x, target, given);
      };
      show_reductions(name, options, loss, {x});
      show_reductions(name + " smooth", F::CrossEntropyFuncOptions(options).label_smoothing(0.2),
                      loss, {x});
      show_reductions(name + " weighted", F::CrossEntropyFuncOptions(options).weight(weight), loss,
                      {x});
      show_reductions(name + " weighted smooth",
                      F::CrossEntropyFuncOptions(options).weight(weight).label_smoothing(0.2), loss,
                      {x});
    }
    const Tensor p = torch::softmax(filled(shapes.scores, 2), shapes.scores.size() == 1 ? 0 : 1);
    show_reductions(shapes.name + std::string(" probabilities"),
                    F::CrossEntropyFuncOptions().weight(weight).label_smoothing(0.1),
                    [&](F::CrossEntropyFuncOptions given) { return F::cross_entropy(x, p, given); },
                    {x});
  }
}

CASE(nll_loss) {
  for (const Shapes& shapes : kShapes) {
    if (shapes.scores.size() == 1) continue;  // LibTorch's functional wants an axis of rows
    const Tensor x = leaf(shapes.scores);
    const std::size_t axis = shapes.scores.size() == 1 ? 0 : 1;
    const Tensor weight = filled({shapes.scores[axis]}, 1).abs() + 0.1;
    const Tensor target = classes_for(shapes.scores, -100);
    const auto loss = [&](F::NLLLossFuncOptions given) {
      return F::nll_loss(torch::log_softmax(x, static_cast<std::int64_t>(axis)), target, given);
    };
    show_reductions(shapes.name, F::NLLLossFuncOptions(), loss, {x});
    show_reductions(shapes.name + std::string(" weighted"), F::NLLLossFuncOptions().weight(weight),
                    loss, {x});
  }
}

CASE(order_of_memory) {
  const Tensor last = leaf({2, 3, 4, 5}), target = classes_for({2, 5, 3, 4}, -100);
  show_gradients("classes last", F::cross_entropy(last.permute({0, 3, 1, 2}), target), {last});
  const Tensor apart = leaf({5, 2, 3, 4});
  show_gradients("classes first", F::cross_entropy(apart.transpose(0, 1), target), {apart});
  const Tensor wide = leaf({2, 5, 3, 8});
  show_gradients("every other column",
                 F::cross_entropy(wide.slice(3, 0, 8, 2), target,
                                  F::CrossEntropyFuncOptions().label_smoothing(0.1)),
                 {wide});
}

CASE(nothing_in_the_batch) {
  for (const std::vector<std::int64_t>& scores :
       {std::vector<std::int64_t>{0, 4}, {0, 4, 9}, {0, 3, 2, 5}, {2, 3, 0, 5}}) {
    const Tensor x = torch::empty(scores, torch::kDouble).requires_grad_();
    std::vector<std::int64_t> places = scores;
    places.erase(places.begin() + 1);
    const Tensor target = torch::empty(places, torch::kLong);
    const std::string name = std::to_string(scores.size()) + " axes " + std::to_string(scores[0]);
    show_gradients(name,
                   F::cross_entropy(x, target, F::CrossEntropyFuncOptions().reduction(torch::kSum)),
                   {x});
    show(name + " mean", F::cross_entropy(x, target));
  }
}

CASE(second_order) {
  for (const Shapes& shapes : {kShapes[1], kShapes[3]}) {
    const Tensor x = leaf(shapes.scores);
    const Tensor loss = F::cross_entropy(x, classes_for(shapes.scores, -100));
    const Tensor slope = torch::autograd::grad({loss}, {x}, {}, true, true)[0];
    show_gradients(shapes.name, slope, {x});
  }
}

CASE(class_errors) {
  const Tensor x = filled({2, 3, 2, 5});
  show_error("class outside", [&] {
    F::cross_entropy(x, torch::full({2, 2, 5}, 3, torch::kLong));
  });
  show_error("class outside, weighted", [&] {
    F::cross_entropy(x, torch::full({2, 2, 5}, 3, torch::kLong),
                     F::CrossEntropyFuncOptions().weight(torch::ones({3}, torch::kDouble)));
  });
  show_error("shape", [&] { F::cross_entropy(x, torch::zeros({2, 5, 2}, torch::kLong)); });
  show_error("weights", [&] {
    F::cross_entropy(x, torch::zeros({2, 2, 5}, torch::kLong),
                     F::CrossEntropyFuncOptions().weight(torch::ones({4}, torch::kDouble)));
  });
}
