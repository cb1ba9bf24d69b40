// Mistakes with elementwise functions and parts of tensors that are spelled with others: their own
// names are told.
#include "tests/errors/mistakes.h"

namespace groove::errors {
namespace {

Tensor a() { return ones({2, 3}); }
Tensor b() { return ones({4, 5}); }
Tensor whole() { return ones({2, 3}, kLong); }

// ---- in place, and other names ----
MISTAKE("eq_", ({"[2, 3]", "[4, 5]"}), a().eq_(b()));
MISTAKE("greater_", ({"[2, 3]", "[4, 5]"}), a().greater_(b()));
MISTAKE("remainder_", ({"zero"}), whole().remainder_(0));
MISTAKE("floor_divide_", ({"zero"}), whole().floor_divide_(0));
MISTAKE("div_", ({"Float", "Long"}), whole().div_(a(), "floor"));
MISTAKE("&=", ({"[2, 3]", "[4, 5]"}), Tensor x = whole(); x &= ones({4, 5}, kLong));
MISTAKE("cumsum_", ({"3"}), a().cumsum_(3));
MISTAKE("triu_", ({"[3]"}), ones({3}).triu_());
MISTAKE("arccos", ({"undefined"}), Tensor().arccos());
// ---- elementwise functions ----
MISTAKE("sinc_", ({"Float", "Long"}), whole().sinc_());
MISTAKE("heaviside", ({"Float", "Long"}), heaviside(a(), whole()));
MISTAKE("gcd", ({"Float"}), gcd(a(), a()));
MISTAKE("lcm", ({"[2, 3]", "[5]"}), lcm(whole(), ones({5}, kLong)));
MISTAKE("clip", ({"[2, 3]", "[4, 5]"}), a().clip(b(), b()));
MISTAKE("masked_fill", ({"[4, 5]"}), a().masked_fill(a() > 0, b()));
MISTAKE("bitwise_left_shift", ({"Float"}), bitwise_left_shift(a(), whole()));
MISTAKE("geometric_", ({"1.5"}), a().geometric_(1.5));
// ---- parts ----
MISTAKE("unfold", ({"9", "3"}), a().unfold(1, 9, 1));
MISTAKE("take", ({"9", "6"}), take(a(), whole() * 9));
MISTAKE("scatter_reduce", ({"median"}), a().scatter_reduce(0, whole(), a(), "median"));
MISTAKE("index_reduce", ({"[2, 3]", "0"}), a().index_reduce(0, whole(), a(), "mean"));
MISTAKE("masked_scatter_", ({"Float", "Bool"}), a().masked_scatter_(a(), a()));
MISTAKE("select_scatter", ({"[4, 5]", "[3]"}), a().select_scatter(b(), 0, 0));
MISTAKE("hsplit", ({"2", "3"}), a().hsplit(2));
MISTAKE("rot90", ({"0"}), a().rot90(1, {0, 0}));
MISTAKE("mT", ({"[3]"}), ones({3}).mT());
MISTAKE("combinations", ({"[2, 3]", "1-d"}), combinations(a()));
MISTAKE("empty_strided", ({"[4, 1]", "[2, 3]"}), empty_strided({2, 3}, {4, 1}));

}  // namespace
}  // namespace groove::errors
