// Pools over three axes, with positions, adaptive ones, and power means.
#include "cases.h"

namespace F = torch::nn::functional;
namespace nn = torch::nn;
using namespace agreement;

CASE(max_pool1d) {
  const auto x = leaf({2, 3, 9});
  show_both("plain", torch::max_pool1d_with_indices(x, 3), x);
  show_both("options", torch::max_pool1d_with_indices(x, 3, 2, 1, 2, true), x);
  show_both("functional", F::max_pool1d_with_indices(x, F::MaxPool1dFuncOptions(4).stride(3)), x);
  nn::MaxPool1d module(nn::MaxPool1dOptions(3).stride(2).padding(1).ceil_mode(true));
  show("prints", printed(*module));
  show_both("module", module->forward_with_indices(x), x);
  const auto line = leaf({2, 7}, 1);
  show_both("single", torch::max_pool1d_with_indices(line, 2), line);
}

CASE(max_pool3d) {
  const auto x = leaf({2, 2, 4, 5, 6});
  show_gradients("plain", torch::max_pool3d(x, 2), {x});
  show_both("both", torch::max_pool3d_with_indices(x, {2, 3, 2}), x);
  show_both("options",
            torch::max_pool3d_with_indices(x, {2, 3, 3}, {1, 2, 2}, {1, 1, 0}, {2, 1, 2}), x);
  show_both("ceil", torch::max_pool3d_with_indices(x, 3, 2, 1, 1, true), x);
  const auto equal = (x.detach() > 0).to(torch::kDouble).requires_grad_();
  show_both("ties", torch::max_pool3d_with_indices(equal, 3, {1, 2, 1}, {1, 0, 1}), equal);
  const auto single = leaf({2, 3, 4, 4}, 1);
  show_both("single", torch::max_pool3d_with_indices(single, 2, 1), single);
  show_gradients("functional", F::max_pool3d(x, F::MaxPool3dFuncOptions({2, 2, 3}).padding(1)),
                 {x});
  show_both("functional both", F::max_pool3d_with_indices(x, F::MaxPool3dFuncOptions(2).stride(1)),
            x);
  nn::MaxPool3d module(nn::MaxPool3dOptions({2, 2, 3}).stride({2, 1, 2}).padding({1, 0, 1}));
  show("prints", printed(*module));
  show_gradients("module", module(x), {x});
  show_both("module both", module->forward_with_indices(x), x);
  show_error("padding", [&] { torch::max_pool3d(x, 2, 2, 2); });
  show_error("rank", [&] { torch::max_pool3d(filled({3, 3}), 2); });
  show_error("too large", [&] { torch::max_pool3d(x, 9); });
}

CASE(avg_pool3d) {
  const auto x = leaf({2, 2, 4, 5, 6});
  show_gradients("plain", torch::avg_pool3d(x, 2), {x});
  show_gradients("padded", torch::avg_pool3d(x, {2, 3, 3}, {1, 2, 2}, {1, 1, 0}), {x});
  show_gradients("inside", torch::avg_pool3d(x, {2, 3, 3}, {1, 2, 2}, {1, 1, 1}, false, false),
                 {x});
  show_gradients("ceil", torch::avg_pool3d(x, 3, 2, 1, true), {x});
  show_gradients("ceil inside", torch::avg_pool3d(x, 3, 2, 1, true, false), {x});
  show_gradients("ceil bare", torch::avg_pool3d(x, 2, {3, 2, 4}, 0, true), {x});
  show_gradients("divisor", torch::avg_pool3d(x, 3, 2, 1, true, false, 5), {x});
  const auto single = leaf({2, 3, 4, 4}, 1);
  show_gradients("single", torch::avg_pool3d(single, {3, 2, 2}, 1), {single});
  show_gradients("functional",
                 F::avg_pool3d(x, F::AvgPool3dFuncOptions(3).stride(2).padding(1).ceil_mode(true)),
                 {x});
  nn::AvgPool3d module(
      nn::AvgPool3dOptions({3, 2, 2}).stride({2, 2, 1}).padding({1, 0, 1}).count_include_pad(
          false));
  show("prints", printed(*module));
  show_gradients("module", module(x), {x});
  show_error("divisor", [&] { torch::avg_pool3d(x, 2, 2, 0, false, true, 0); });
  show_error("rank", [&] { torch::avg_pool3d(filled({3, 3}), 2); });
}

CASE(adaptive_avg_pool) {
  const auto x = leaf({2, 2, 4, 5, 6});
  show_gradients("even", torch::adaptive_avg_pool3d(x, {2, 5, 3}), {x});
  show_gradients("uneven", torch::adaptive_avg_pool3d(x, {3, 2, 4}), {x});
  show_gradients("larger", torch::adaptive_avg_pool3d(x, {6, 1, 7}), {x});
  show_gradients("one", torch::adaptive_avg_pool3d(x, {1, 1, 1}), {x});
  const auto single = leaf({2, 3, 4, 4}, 1);
  show_gradients("single", torch::adaptive_avg_pool3d(single, {2, 3, 1}), {single});
  show_gradients("functional",
                 F::adaptive_avg_pool3d(x, F::AdaptiveAvgPool3dFuncOptions({2, 3, 4})), {x});
  nn::AdaptiveAvgPool3d module(nn::AdaptiveAvgPool3dOptions({3, torch::nullopt, 2}));
  show("prints", printed(*module));
  show_gradients("module", module(x), {x});
  nn::AdaptiveAvgPool1d line(3);
  show("prints 1d", printed(*line));
  const auto y = leaf({2, 3, 7}, 2);
  show_gradients("1d", line(y), {y});
  nn::AdaptiveAvgPool2d plane(nn::AdaptiveAvgPool2dOptions({torch::nullopt, 2}));
  show("prints 2d", printed(*plane));
  const auto z = leaf({2, 3, 5, 3}, 2);
  show_gradients("2d", plane(z), {z});
  show_error("rank", [&] { torch::adaptive_avg_pool3d(filled({3, 3}), 2); });
}

CASE(adaptive_max_pool) {
  const auto x = leaf({2, 2, 4, 5, 6});
  show_both("even", torch::adaptive_max_pool3d(x, {2, 5, 3}), x);
  show_both("uneven", torch::adaptive_max_pool3d(x, {3, 2, 4}), x);
  show_both("larger", torch::adaptive_max_pool3d(x, {6, 1, 7}), x);
  const auto single = leaf({2, 3, 4, 4}, 1);
  show_both("single", torch::adaptive_max_pool3d(single, {2, 3, 1}), single);
  show_gradients("functional",
                 F::adaptive_max_pool3d(x, F::AdaptiveMaxPool3dFuncOptions({2, 3, 4})), {x});
  show_both("functional both",
            F::adaptive_max_pool3d_with_indices(x, F::AdaptiveMaxPool3dFuncOptions(2)), x);
  nn::AdaptiveMaxPool3d module(nn::AdaptiveMaxPool3dOptions({3, torch::nullopt, 2}));
  show("prints", printed(*module));
  show_gradients("module", module(x), {x});
  show_both("module both", module->forward_with_indices(x), x);
  const auto line = leaf({2, 3, 7}, 2), one = leaf({3, 5}, 3);
  show_both("1d", torch::adaptive_max_pool1d(line, 3), line);
  show_both("1d single", torch::adaptive_max_pool1d(one, {2}), one);
  show_gradients("1d functional", F::adaptive_max_pool1d(line, F::AdaptiveMaxPool1dFuncOptions(4)),
                 {line});
  nn::AdaptiveMaxPool1d module1(nn::AdaptiveMaxPool1dOptions(5));
  show("prints 1d", printed(*module1));
  show_both("1d module", module1->forward_with_indices(line), line);
  show_gradients("1d module alone", module1(line), {line});
  const auto image = leaf({2, 2, 5, 7}, 4);
  show_both("2d", torch::adaptive_max_pool2d(image, {3, 4}), image);
  show_both("2d functional",
            F::adaptive_max_pool2d_with_indices(image, F::AdaptiveMaxPool2dFuncOptions({2, 3})),
            image);
  nn::AdaptiveMaxPool2d module2(nn::AdaptiveMaxPool2dOptions({3, torch::nullopt}));
  show("prints 2d", printed(*module2));
  show_both("2d module", module2->forward_with_indices(image), image);
  show_error("rank", [&] { torch::adaptive_max_pool3d(filled({3, 3}), 2); });
}

CASE(lp_pool) {
  const auto line = leaf({2, 3, 7}), image = leaf({2, 2, 5, 6}, 1),
             volume = leaf({1, 2, 4, 5, 4}, 2);
  show_gradients("1d", F::lp_pool1d(line, F::LPPool1dFuncOptions(2, 3)), {line});
  show_gradients("1d ceil",
                 F::lp_pool1d(line, F::LPPool1dFuncOptions(2, 3).stride(2).ceil_mode(true)),
                 {line});
  show_gradients("2d", F::lp_pool2d(image, F::LPPool2dFuncOptions(2, {2, 3}).stride({1, 2})),
                 {image});
  show_gradients("3d", F::lp_pool3d(volume, F::LPPool3dFuncOptions(2, {2, 3, 2})), {volume});
  const auto positive = filled({2, 3, 8}, 4).abs().add(0.25).clone().requires_grad_();
  show_gradients("cubes", F::lp_pool1d(positive, F::LPPool1dFuncOptions(3, 2)), {positive});
  show_gradients("fractions", F::lp_pool1d(positive, F::LPPool1dFuncOptions(1.5, 2)), {positive});
  nn::LPPool1d module1(nn::LPPool1dOptions(2, 3).stride(1));
  show("prints 1d", printed(*module1));
  show_gradients("1d module", module1(line), {line});
  nn::LPPool2d module2(nn::LPPool2dOptions(1.5, {3, 2}).ceil_mode(true));
  show("prints 2d", printed(*module2));
  nn::LPPool2d square(2, 2);
  show("prints square", printed(*square));
  show_gradients("2d module", square(image), {image});
  nn::LPPool3d module3(nn::LPPool3dOptions(2, {3, 2, 1}).stride(2));
  show("prints 3d", printed(*module3));
  show_gradients("3d module", module3(volume), {volume});
  show_error("rank", [&] { F::lp_pool2d(filled({3}), F::LPPool2dFuncOptions(2, 2)); });
}
