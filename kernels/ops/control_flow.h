// What the operators of control flow share: operands against the inputs of a graph, and graphs with
// inputs and outputs in another order.
#pragma once

#include <optional>

#include "kernels/subgraph_run.h"

namespace groove {

/// Throws groove::Error naming the op unless `types` are those of the graph's inputs from `first`.
void check_operands(const Signature& s, const Graph& graph, std::size_t first,
                    ArrayRef<Type> types);
std::vector<Type> output_types(const Graph& graph);
/// The graph whose input i is input order[i] of this one, its outputs likewise; missing ones are
/// dropped, so an input that is left out must be unused.
std::int64_t rearranged(std::int64_t number, ArrayRef<std::int32_t> inputs,
                        ArrayRef<std::int32_t> outputs);

/// Can running it throw, by what values are? Then what comes out is looked at where it was called,
/// so that a compiled loop runs it there.
bool may_throw(const Graph& graph);
void look_at(const Tensors& outputs);
/// Is it a loop that may be stopped by its limit?
bool has_limit(const Node& node);

/// The gradients of those operands that have one, each in its place from `first` on.
Tensors in_their_places(const Tensors& gradients, const std::vector<char>& wanted,
                        std::size_t first);
/// -0.0 everywhere: added to anything it gives that.
Tensor nothing_yet(const Type& type);
/// Bytes that one run touches and calls that it makes, as time on one thread.
double subgraph_nanoseconds(const Graph& graph);
// Contiguous memory on the host.
void copy_bytes(const Tensor& from, const Tensor& to);
void fill_with_nothing(const Tensor& to);
void add_elements(const Tensor& a, const Tensor& b, const Tensor& to);

// ---- what differentiates calls `scan` again with its own graphs ----

struct ScanCall {
  std::int64_t body = -1;
  std::int64_t steps = 0;
  std::size_t carried = 0, scanned = 0;
  std::size_t residuals = 0;  // of the outputs, the last ones, that only gradients read
  bool is_reverse = false;
  std::uint64_t draws = 0;            // that each step takes
  bool has_last_draws_first = false;  // as the gradient of a scan has
};
// Of a scan that may be replaced by its steps.
struct ScanCost {
  std::int64_t operators = 0;  // of all steps
  double nanoseconds_of_step = 0;
};
/// None for anything else: it draws random numbers, or must be looked at where it was called.
std::optional<ScanCost> cost_to_unroll(const Op& op, const Attrs& attrs);
/// What a scan gives, its steps as operators one after the other.
Tensors unroll_scan(const Signature& s, ArrayRef<Tensor> inputs);
/// Operands: carried, scanned, closed over. With a tape on the way, residuals are kept.
Tensors call_scan(ScanCall call, ArrayRef<Tensor> operands, ArrayRef<Scalar> numbers, Site site);
Tensors call_while(std::int64_t condition, std::int64_t body, std::size_t carried,
                   std::int64_t max_iterations, ArrayRef<Tensor> operands, ArrayRef<Scalar> numbers,
                   Site site);
Tensors call_cond(std::int64_t if_true, std::int64_t if_false, ArrayRef<Tensor> operands,
                  ArrayRef<Scalar> numbers, Site site);

}  // namespace groove
