// Unpools, fractional pools, and windows as columns.
#include "cases.h"

namespace F = torch::nn::functional;
namespace nn = torch::nn;
using namespace agreement;

namespace {

// Numbers in [0, 1).
torch::Tensor samples(torch::IntArrayRef sizes, std::int64_t j) {
  return filled(sizes, j).add(1).mul(0.4975);
}

}  // namespace

CASE(max_unpool) {
  const auto line = filled({2, 2, 8}), image = filled({2, 2, 5, 6}, 1);
  const auto volume = filled({1, 2, 4, 4, 5}, 2);
  const auto line_at = std::get<1>(torch::max_pool1d_with_indices(line, 2));
  const auto x = leaf(line_at.sizes(), 3);
  show_gradients("1d", F::max_unpool1d(x, line_at, F::MaxUnpool1dFuncOptions(2)), {x});
  nn::MaxUnpool1d module1(nn::MaxUnpool1dOptions(2).stride(2).padding(0));
  show("prints 1d", printed(*module1));
  show_gradients("1d module", module1(x, line_at), {x});
  show_gradients("1d size", module1(x, line_at, std::vector<std::int64_t>{2, 2, 9}), {x});
  const auto at = std::get<1>(torch::max_pool2d_with_indices(image, {2, 3}, {2, 2}));
  const auto y = leaf(at.sizes(), 4);
  show_gradients("2d", torch::max_unpool2d(y, at, {5, 6}), {y});
  show_gradients("2d functional",
                 F::max_unpool2d(y, at,
                                 F::MaxUnpool2dFuncOptions({2, 3}).stride(2).output_size(
                                     std::vector<std::int64_t>{2, 2, 5, 6})),
                 {y});
  nn::MaxUnpool2d module2(nn::MaxUnpool2dOptions({2, 3}).stride({2, 3}).padding({0, 1}));
  show("prints 2d", printed(*module2));
  show_gradients("2d module", module2(y, at, std::vector<std::int64_t>{2, 2, 5, 6}), {y});
  const auto single = leaf({2, 2, 2}, 6);
  show_gradients("2d single",
                 torch::max_unpool2d(single, at.narrow(2, 0, 2).narrow(3, 0, 2)[0], {5, 6}),
                 {single});
  const auto at3 = std::get<1>(torch::max_pool3d_with_indices(volume, 2));
  const auto z = leaf(at3.sizes(), 5);
  show_gradients("3d", torch::max_unpool3d(z, at3, {4, 4, 5}, {2, 2, 2}, {0, 0, 0}), {z});
  show_gradients("3d functional",
                 F::max_unpool3d(z, at3,
                                 F::MaxUnpool3dFuncOptions(2).output_size(
                                     std::vector<std::int64_t>{1, 2, 4, 4, 5})),
                 {z});
  nn::MaxUnpool3d module3(2);
  show("prints 3d", printed(*module3));
  show_gradients("3d module", module3(z, at3, std::vector<std::int64_t>{1, 2, 4, 4, 5}), {z});
  show_error("shape", [&] { torch::max_unpool2d(y, at3, {5, 6}); });
  show_error("dtype", [&] { torch::max_unpool2d(y, at.to(torch::kInt), {5, 6}); });
  show_error("size", [&] { torch::max_unpool2d(y, at, {5}); });
  show_error("range", [&] { torch::max_unpool2d(y, at, {2, 2}); });
  show_error("asked", [&] { module2(y, at, std::vector<std::int64_t>{2, 2, 9, 9}); });
}

CASE(fractional_max_pool) {
  const auto image = leaf({2, 3, 7, 9}), volume = leaf({2, 2, 6, 7, 8}, 1);
  const auto s2 = samples({2, 3, 2}, 2), s3 = samples({2, 2, 3}, 3);
  show_both("2d", torch::fractional_max_pool2d(image, {2, 3}, {4, 5}, s2), image);
  show_both("2d one", torch::fractional_max_pool2d(image, {3, 2}, {1, 6}, s2), image);
  show_both("3d", torch::fractional_max_pool3d(volume, {2, 3, 2}, {4, 3, 5}, s3), volume);
  const auto single = leaf({3, 7, 8}, 4);
  show_both("single", torch::fractional_max_pool2d(single, {2, 2}, {4, 4}, s2.narrow(0, 0, 1)),
            single);
  const auto floats = image.detach().to(torch::kFloat).requires_grad_();
  show_both("float", torch::fractional_max_pool2d(floats, {2, 3}, {5, 6}, s2.to(torch::kFloat)),
            floats);
  show_gradients(
      "2d functional",
      F::fractional_max_pool2d(
          image, F::FractionalMaxPool2dFuncOptions(2).output_size(4)._random_samples(s2)),
      {image});
  show_both("3d functional",
            F::fractional_max_pool3d_with_indices(
                volume, F::FractionalMaxPool3dFuncOptions(2)
                            .output_ratio(torch::ExpandingArray<3, double>({0.5, 0.6, 0.7}))
                            ._random_samples(s3)),
            volume);
  nn::FractionalMaxPool2d module2(
      nn::FractionalMaxPool2dOptions({2, 3}).output_size(4)._random_samples(s2));
  show("prints 2d", printed(*module2));
  show_both("2d module", module2->forward_with_indices(image), image);
  nn::FractionalMaxPool3d module3(nn::FractionalMaxPool3dOptions(2)
                                      .output_ratio(torch::ExpandingArray<3, double>(0.5))
                                      ._random_samples(s3));
  show("prints 3d", printed(*module3));
  show_gradients("3d module", module3(volume), {volume});
  nn::FractionalMaxPool2d drawn(
      nn::FractionalMaxPool2dOptions(2).output_size(torch::ExpandingArray<2>({3, 4})));
  show("drawn",
       drawn(filled({2, 3, 7, 8})).sizes() == torch::IntArrayRef({2, 3, 3, 4}) ? 1.0 : 0.0);
  show_error("too many", [&] { torch::fractional_max_pool2d(image, {2, 3}, {7, 9}, s2); });
  show_error("neither", [] { nn::FractionalMaxPool2d wrong(nn::FractionalMaxPool2dOptions(2)); });
  show_error("ratio", [] {
    nn::FractionalMaxPool2d wrong(
        nn::FractionalMaxPool2dOptions(2).output_ratio(torch::ExpandingArray<2, double>(1.5)));
  });
}

CASE(fold) {
  const auto image = leaf({2, 2, 4, 5});
  show_gradients("im2col", torch::im2col(image, {2, 3}, {1, 1}, {0, 0}, {1, 1}), {image});
  show_gradients("im2col options", torch::im2col(image, {2, 2}, {2, 1}, {1, 2}, {1, 2}), {image});
  const auto single = leaf({3, 4, 4}, 1);
  show_gradients("im2col single", torch::im2col(single, {2, 2}, {1, 1}, {1, 0}, {2, 1}), {single});
  const auto columns = leaf({2, 12, 12}, 2);
  show_gradients("col2im", torch::col2im(columns, {5, 5}, {2, 3}, {1, 1}, {0, 0}, {1, 1}),
                 {columns});
  const auto more = leaf({2, 8, 12}, 3);
  show_gradients("col2im options", torch::col2im(more, {4, 5}, {2, 2}, {2, 1}, {1, 1}, {1, 2}),
                 {more});
  const auto one = leaf({8, 9}, 4);
  show_gradients("col2im single", torch::col2im(one, {4, 4}, {2, 2}, {1, 1}, {0, 0}, {1, 1}),
                 {one});
  show_gradients("unfold", F::unfold(image, F::UnfoldFuncOptions({2, 3}).padding(1).stride({2, 1})),
                 {image});
  show_gradients(
      "fold",
      F::fold(more, F::FoldFuncOptions({4, 5}, 2).dilation({2, 1}).padding(1).stride({1, 2})),
      {more});
  nn::Unfold unfold(nn::UnfoldOptions({2, 3}).dilation({1, 2}).padding({1, 2}).stride(2));
  show("prints unfold", printed(*unfold));
  show_gradients("module unfold", unfold(image), {image});
  nn::Fold fold(nn::FoldOptions({4, 5}, {2, 2}).dilation({2, 1}).padding(1).stride({1, 2}));
  show("prints fold", printed(*fold));
  show_gradients("module fold", fold(more), {more});
  nn::Fold plain(5, 2);
  show("prints plain", printed(*plain));
  show_error("windows", [&] { torch::col2im(columns, {6, 5}, {2, 3}, {1, 1}, {0, 0}, {1, 1}); });
  show_error("channels", [&] { torch::col2im(columns, {5, 5}, {5, 1}, {1, 1}, {0, 0}, {1, 1}); });
  show_error("fits", [&] { torch::im2col(image, {6, 3}, {1, 1}, {0, 0}, {1, 1}); });
  show_error("rank", [&] { F::unfold(filled({3, 3, 3}), F::UnfoldFuncOptions(2)); });
}
