// scaled_dot_product_attention, in ordinary ops: two products with a softmax of rows between them.
#include <cmath>

#include "groove/ops/contractions.h"
#include "groove/ops/creation.h"
#include "groove/ops/views.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

const char* const kName = "scaled_dot_product_attention";

void check_operands(const Shape& query, const Shape& key, const Shape& value) {
  const std::size_t q = query.size(), k = key.size(), v = value.size();
  GROOVE_CHECK(
      q >= 2 && k >= 2 && v >= 2 && query[q - 1] == key[k - 1] && key[k - 2] == value[v - 2],
      "{}: query {}, key {} and value {} do not fit; they must be [.., L, E], [.., S, E] "
      "and [.., S, V]",
      kName, to_string(query), to_string(key), to_string(value));
}

}  // namespace

Tensor scaled_dot_product_attention(Arg query, const Tensor& key, const Tensor& value,
                                    const Tensor& attn_mask, double dropout_p, bool is_causal,
                                    std::optional<double> scale, bool enable_gqa) {
  const CallFrame frame(query.site);
  if (enable_gqa) {
    const std::int64_t heads = query.tensor->size(-3, query.site);
    const auto for_all = [&](const Tensor& x) {
      const std::int64_t own = x.size(-3, query.site);
      GROOVE_CHECK(own > 0 && heads % own == 0, "{}: {} heads of the query for {} of key or value",
                   kName, heads, own);
      return own == heads ? x : repeat_interleave({x, query.site}, heads / own, -3);
    };
    return scaled_dot_product_attention(query, for_all(key), for_all(value), attn_mask, dropout_p,
                                        is_causal, scale);
  }
  const Tensor& q = *query.tensor;
  const Shape sizes = checked(kName, q).geometry.sizes;
  const Shape key_sizes = checked(kName, key).geometry.sizes;
  check_operands(sizes, key_sizes, checked(kName, value).geometry.sizes);
  GROOVE_CHECK(!is_causal || !attn_mask.defined(),
               "{}: is_causal and attn_mask exclude each other; put the causal part into the mask",
               kName);
  const SiteScope scope(query.site);
  const std::int64_t width = sizes.back(), rows = sizes[sizes.size() - 2],
                     columns = key_sizes[key_sizes.size() - 2];
  const double factor = scale ? *scale : 1 / std::sqrt(static_cast<double>(width));
  Tensor scores = matmul(q, transpose(key, -2, -1)) * factor;
  if (is_causal) {
    const Tensor is_hidden = gt(arange(columns), arange(rows).unsqueeze(1));
    scores = masked_fill(scores, is_hidden, -INFINITY);
  } else if (attn_mask.defined()) {
    scores = attn_mask.scalar_type() == kBool
                 ? masked_fill(scores, logical_not(attn_mask), -INFINITY)
                 : scores + attn_mask;
  }
  if (!attn_mask.defined()) return matmul(dropout(softmax(scores, -1), dropout_p, true), value);
  // A row that may look at nothing has no weights; its slopes are 0 rather than NaN.
  const Tensor is_blind = all(eq(scores, -INFINITY), -1, true);
  const Tensor weights = softmax(masked_fill(scores, is_blind, 0), -1);
  return matmul(dropout(masked_fill(weights, is_blind, 0), dropout_p, true), value);
}

}  // namespace groove
