// NumPy's files: a tensor in a .npy, tensors by name in a .npz. Not included by groove/groove.h:
// LibTorch programs have functions of these names.
#pragma once

#include <string>
#include <vector>

#include "groove/ordered_dict.h"
#include "groove/tensor.h"

namespace groove {

/// The tensor of a .npy file (format 1.0, 2.0 or 3.0), of its shape and dtype, row-major and
/// little-endian whatever the file's order is. Throws groove::Error naming the file when it is
/// damaged or its dtype is none of Groove's (unsigned of 16 bits and more, complex, records, …).
Tensor load_npy(const std::string& path, Site site = Site::current());
/// Writes what numpy.save() would write of it: format 1.0, row-major, little-endian; NaN is written
/// as the canonical quiet NaN. The file appears whole or not at all. Throws groove::Error for
/// BFloat16, which NumPy has not.
void save_npy(const std::string& path, const Tensor& tensor, Site site = Site::current());

/// The tensors of a .npz file, which numpy.savez() or savez_compressed() wrote, in the order of
/// their names; as load_npy().
OrderedDict<std::string, Tensor> load_npz(const std::string& path, Site site = Site::current());
/// As numpy.savez(), not compressed: save_npz("net.npz", net->named_parameters()). As save_npy().
void save_npz(const std::string& path, const OrderedDict<std::string, Tensor>& tensors,
              Site site = Site::current());

}  // namespace groove
