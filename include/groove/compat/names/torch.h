// Written by tools/compat-names: Groove's names as LibTorch's namespaces hold them.
#pragma once

#include "groove/detail/message.h"
#include "groove/groove.h"

namespace torch {
using groove::_log_softmax, groove::_log_softmax_backward_data, groove::_shape_as_tensor,
    groove::_softmax, groove::_softmax_backward_data, groove::_unique, groove::_unique2,
    groove::_upsample_bicubic2d_aa, groove::_upsample_bilinear2d_aa,
    groove::_upsample_nearest_exact1d, groove::_upsample_nearest_exact2d,
    groove::_upsample_nearest_exact3d, groove::_weight_norm, groove::abs, groove::absolute,
    groove::acos, groove::acosh, groove::adaptive_avg_pool1d, groove::adaptive_avg_pool2d,
    groove::adaptive_avg_pool3d, groove::adaptive_max_pool1d, groove::adaptive_max_pool2d,
    groove::adaptive_max_pool3d, groove::add, groove::addbmm, groove::addcdiv, groove::addcmul,
    groove::addmm, groove::addmv, groove::addr, groove::adjoint, groove::affine_grid_generator,
    groove::alias, groove::all, groove::allclose, groove::alpha_dropout, groove::alpha_dropout_,
    groove::amax, groove::amin, groove::aminmax, groove::angle, groove::any, groove::arange,
    groove::arccos, groove::arccosh, groove::arcsin, groove::arcsinh, groove::arctan,
    groove::arctan2, groove::arctanh, groove::argmax, groove::argmin, groove::argsort,
    groove::argwhere, groove::ArrayRef, groove::as_strided, groove::as_strided_scatter,
    groove::asin, groove::asinh, groove::atan, groove::atan2, groove::atanh, groove::atleast_1d,
    groove::atleast_2d, groove::atleast_3d, groove::AutoGradMode, groove::avg_pool1d,
    groove::avg_pool2d, groove::avg_pool3d, groove::baddbmm, groove::bartlett_window,
    groove::batch_norm, groove::bernoulli, groove::BFloat16, groove::bilinear,
    groove::binary_cross_entropy, groove::binary_cross_entropy_with_logits, groove::bincount,
    groove::binomial, groove::bitwise_and, groove::bitwise_left_shift, groove::bitwise_not,
    groove::bitwise_or, groove::bitwise_right_shift, groove::bitwise_xor, groove::blackman_window,
    groove::block_diag, groove::bmm, groove::broadcast_tensors, groove::broadcast_to,
    groove::bucketize, groove::can_cast, groove::cartesian_prod, groove::cat, groove::cdist,
    groove::ceil, groove::celu, groove::celu_, groove::chain_matmul, groove::channel_shuffle,
    groove::cholesky, groove::cholesky_inverse, groove::cholesky_solve, groove::chunk,
    groove::clamp, groove::clamp_max, groove::clamp_min, groove::clip, groove::clone,
    groove::col2im, groove::column_stack, groove::combinations, groove::complex,
    groove::complex_dtype, groove::concat, groove::concatenate, groove::cond, groove::conj,
    groove::conj_physical, groove::constant_pad_nd, groove::conv1d, groove::conv2d, groove::conv3d,
    groove::conv_tbc, groove::conv_transpose1d, groove::conv_transpose2d, groove::conv_transpose3d,
    groove::convolution, groove::copysign, groove::corrcoef, groove::cos, groove::cosh,
    groove::cosine_embedding_loss, groove::cosine_similarity, groove::count_nonzero, groove::cov,
    groove::cross, groove::cross_entropy_loss, groove::ctc_loss, groove::cummax, groove::cummin,
    groove::cumprod, groove::cumsum, groove::cumulative_trapezoid, groove::DataPtr, groove::deg2rad,
    groove::DeprecatedTypeProperties, groove::det, groove::detach_copy, groove::Device,
    groove::device, groove::device_index, groove::DeviceType, groove::DeviceTypeName, groove::diag,
    groove::diag_embed, groove::diagflat, groove::diagonal, groove::diagonal_scatter, groove::Dict,
    groove::diff, groove::digamma, groove::dist, groove::div, groove::divide, groove::dot,
    groove::DrawsFrom, groove::dropout, groove::dropout_, groove::dsplit, groove::dstack,
    groove::Dtype, groove::dtype, groove::einsum, groove::element_size, groove::elementSize,
    groove::elu, groove::elu_, groove::embedding, groove::embedding_bag, groove::empty,
    groove::empty_like, groove::empty_strided, groove::eq, groove::equal, groove::erf, groove::erfc,
    groove::erfinv, groove::Error, groove::exp, groove::exp2, groove::expand, groove::expand_copy,
    groove::ExpandingArray, groove::ExpandingArrayWithOptionalElem, groove::expm1, groove::eye,
    groove::fake_quantize_per_channel_affine, groove::fake_quantize_per_tensor_affine,
    groove::feature_alpha_dropout, groove::feature_alpha_dropout_, groove::feature_dropout,
    groove::feature_dropout_, groove::fix, groove::flatten, groove::flip, groove::fliplr,
    groove::flipud, groove::float_power, groove::floor, groove::floor_divide, groove::fmax,
    groove::fmin, groove::fmod, groove::frac, groove::fractional_max_pool2d,
    groove::fractional_max_pool3d, groove::frexp, groove::frobenius_norm, groove::from_blob,
    groove::full, groove::full_like, groove::gather, groove::gcd, groove::ge, groove::gelu,
    groove::Generator, groove::GenericDict, groove::geqrf, groove::ger, groove::get_default_dtype,
    groove::get_num_interop_threads, groove::get_num_threads, groove::get_random_state, groove::glu,
    groove::gradient, groove::GradMode, groove::greater, groove::greater_equal,
    groove::grid_sampler, groove::grid_sampler_2d, groove::grid_sampler_3d, groove::group_norm,
    groove::gru, groove::gru_cell, groove::gt, groove::Half, groove::hamming_window,
    groove::hann_window, groove::hardshrink, groove::hardsigmoid, groove::hardsigmoid_,
    groove::hardswish, groove::hardswish_, groove::hardtanh, groove::hardtanh_, groove::heaviside,
    groove::hinge_embedding_loss, groove::histc, groove::histogram, groove::hsplit, groove::hstack,
    groove::huber_loss, groove::hypot, groove::i0, groove::im2col, groove::imag, groove::index_add,
    groove::index_copy, groove::index_fill, groove::index_put, groove::index_reduce,
    groove::index_select, groove::IndexError, groove::InferenceMode, groove::initial_seed,
    groove::inner, groove::instance_norm, groove::IntArrayRef, groove::interpolate,
    groove::Interpolation, groove::inverse, groove::is_complex, groove::is_floating,
    groove::is_integral, groove::is_nonzero, groove::isclose, groove::isComplexType,
    groove::isfinite, groove::isFloatingType, groove::isin, groove::isinf, groove::isIntegralType,
    groove::isnan, groove::isneginf, groove::isposinf, groove::isreal, groove::istft,
    groove::IValue, groove::kaiser_window, groove::kArea, groove::kBatchMean, groove::kBFloat16,
    groove::kBicubic, groove::kBilinear, groove::kBool, groove::kBorder, groove::kByte,
    groove::kChar, groove::kCircular, groove::kComplex128, groove::kComplex32, groove::kComplex64,
    groove::kComplexDouble, groove::kComplexFloat, groove::kComplexHalf, groove::kConstant,
    groove::kConv1D, groove::kConv2D, groove::kConv3D, groove::kConvTranspose1D,
    groove::kConvTranspose2D, groove::kConvTranspose3D, groove::kCPU, groove::kCUDA,
    groove::kDouble, groove::kF16, groove::kF32, groove::kF64, groove::kFanIn, groove::kFanOut,
    groove::kFloat, groove::kFloat16, groove::kFloat32, groove::kFloat64, groove::kGELU,
    groove::kHalf, groove::kHIP, groove::kHPU, groove::kI16, groove::kI32, groove::kI64,
    groove::kI8, groove::kInt, groove::kInt16, groove::kInt32, groove::kInt64, groove::kInt8,
    groove::kl_div, groove::kLeakyReLU, groove::kLinear, groove::kLong, groove::kMax, groove::kMean,
    groove::kMeta, groove::kMish, groove::kMPS, groove::kNearest, groove::kNearestExact,
    groove::kNone, groove::kPrivateUse1, groove::kQInt32, groove::kQInt8, groove::kQUInt8,
    groove::kReflect, groove::kReflection, groove::kReLU, groove::kReplicate, groove::kron,
    groove::kSame, groove::kShort, groove::kSigmoid, groove::kSiLU, groove::kSparse,
    groove::kStrided, groove::kSum, groove::kTanh, groove::kthvalue, groove::kTrilinear,
    groove::kU8, groove::kUInt8, groove::kValid, groove::kVulkan, groove::kXLA, groove::kXPU,
    groove::kZeros, groove::l1_loss, groove::layer_norm, groove::Layout, groove::layout,
    groove::lcm, groove::ldexp, groove::le, groove::leaky_relu, groove::leaky_relu_, groove::lerp,
    groove::less, groove::less_equal, groove::lgamma, groove::linalg_cholesky,
    groove::linalg_cholesky_ex, groove::linalg_cond, groove::linalg_cross, groove::linalg_det,
    groove::linalg_diagonal, groove::linalg_eig, groove::linalg_eigh, groove::linalg_eigvals,
    groove::linalg_eigvalsh, groove::linalg_householder_product, groove::linalg_inv,
    groove::linalg_inv_ex, groove::linalg_lstsq, groove::linalg_lu, groove::linalg_lu_factor,
    groove::linalg_lu_factor_ex, groove::linalg_lu_solve, groove::linalg_matmul,
    groove::linalg_matrix_exp, groove::linalg_matrix_norm, groove::linalg_matrix_power,
    groove::linalg_matrix_rank, groove::linalg_multi_dot, groove::linalg_norm, groove::linalg_pinv,
    groove::linalg_qr, groove::linalg_slogdet, groove::linalg_solve, groove::linalg_solve_ex,
    groove::linalg_solve_triangular, groove::linalg_svd, groove::linalg_svdvals,
    groove::linalg_tensorinv, groove::linalg_tensorsolve, groove::linalg_vecdot,
    groove::linalg_vector_norm, groove::LinAlgError, groove::linear, groove::linspace, groove::load,
    groove::log, groove::log10, groove::log1p, groove::log2, groove::log_sigmoid,
    groove::log_softmax, groove::logaddexp, groove::logaddexp2, groove::logcumsumexp,
    groove::logdet, groove::logical_and, groove::logical_not, groove::logical_or,
    groove::logical_xor, groove::logit, groove::logspace, groove::logsumexp, groove::lstm,
    groove::lstm_cell, groove::lt, groove::lu_solve, groove::lu_unpack, groove::manual_seed,
    groove::margin_ranking_loss, groove::masked_fill, groove::masked_scatter, groove::masked_select,
    groove::matmul, groove::matrix_exp, groove::matrix_power, groove::max, groove::max_pool1d,
    groove::max_pool1d_with_indices, groove::max_pool2d, groove::max_pool2d_with_indices,
    groove::max_pool3d, groove::max_pool3d_with_indices, groove::max_unpool2d, groove::max_unpool3d,
    groove::maximum, groove::mean, groove::median, groove::MemoryFormat, groove::meshgrid,
    groove::min, groove::minimum, groove::mish, groove::mish_, groove::mm, groove::mode,
    groove::moveaxis, groove::movedim, groove::mse_loss, groove::msort, groove::mul,
    groove::multi_margin_loss, groove::multilabel_margin_loss, groove::multinomial,
    groove::multiply, groove::mv, groove::mvlgamma, groove::name, groove::nan_to_num,
    groove::nanmean, groove::nanmedian, groove::nanquantile, groove::nansum, groove::narrow,
    groove::narrow_copy, groove::native_dropout, groove::native_group_norm,
    groove::native_layer_norm, groove::ne, groove::neg, groove::negative, groove::nextafter,
    groove::nll_loss, groove::NoGradGuard, groove::nonzero, groove::nonzero_numpy,
    groove::nonzero_static, groove::norm, groove::norm_except_dim, groove::normal,
    groove::not_equal, groove::NotImplementedError, groove::nuclear_norm, groove::nullopt,
    groove::one_hot, groove::ones, groove::ones_like, groove::optional, groove::OptionalArrayRef,
    groove::OptionalIntArrayRef, groove::OptionalTensorRef, groove::OrderedDict, groove::orgqr,
    groove::ormqr, groove::outer, groove::OutOfMemoryError, groove::PackedTensorAccessor,
    groove::pad, groove::pairwise_distance, groove::pdist, groove::permute, groove::permute_copy,
    groove::pickle_load, groove::pickle_save, groove::pinverse, groove::pixel_shuffle,
    groove::pixel_unshuffle, groove::poisson, groove::poisson_nll_loss, groove::polar,
    groove::polygamma, groove::positive, groove::pow, groove::prelu, groove::print, groove::prod,
    groove::promote_types, groove::put, groove::qr, groove::quantile, groove::rad2deg, groove::rand,
    groove::rand_like, groove::randint, groove::randint_like, groove::randn, groove::randn_like,
    groove::RandomState, groove::randperm, groove::randperm_out, groove::range, groove::ravel,
    groove::real, groove::real_dtype, groove::reciprocal, groove::reduction_t,
    groove::reflection_pad1d, groove::reflection_pad2d, groove::reflection_pad3d, groove::relu,
    groove::relu6, groove::relu6_, groove::remainder, groove::renorm, groove::repeat,
    groove::repeat_interleave, groove::replication_pad1d, groove::replication_pad2d,
    groove::replication_pad3d, groove::requires_grad, groove::reshape, groove::resolve_conj,
    groove::resolve_neg, groove::result_type, groove::rms_norm, groove::rnn_relu, groove::rnn_tanh,
    groove::roll, groove::rot90, groove::round, groove::row_stack, groove::rrelu, groove::rrelu_,
    groove::rsqrt, groove::rsub, groove::save, groove::Scalar, groove::scalar_tensor,
    groove::ScalarType, groove::scalarTypeToTypeMeta, groove::scaled_dot_product_attention,
    groove::scan, groove::ScanOptions, groove::scatter, groove::scatter_add, groove::scatter_reduce,
    groove::searchsorted, groove::segment_reduce, groove::select, groove::select_copy,
    groove::select_scatter, groove::selu, groove::selu_, groove::set_default_dtype,
    groove::set_num_interop_threads, groove::set_num_threads, groove::set_random_state,
    groove::set_warn_always, groove::set_warning_handler, groove::sgn, groove::short_name,
    groove::sigmoid, groove::sigmoid_backward, groove::sign, groove::signbit, groove::silu,
    groove::silu_, groove::sin, groove::sinc, groove::sinh, groove::slice, groove::slice_scatter,
    groove::slogdet, groove::smooth_l1_loss, groove::soft_margin_loss, groove::softmax,
    groove::softplus, groove::softshrink, groove::sort, groove::special_digamma,
    groove::special_entr, groove::special_erf, groove::special_erfc, groove::special_erfinv,
    groove::special_exp2, groove::special_expit, groove::special_expm1, groove::special_gammaln,
    groove::special_i0, groove::special_i0e, groove::special_i1, groove::special_i1e,
    groove::special_log1p, groove::special_log_ndtr, groove::special_log_softmax,
    groove::special_logit, groove::special_logsumexp, groove::special_multigammaln,
    groove::special_ndtr, groove::special_polygamma, groove::special_psi, groove::special_round,
    groove::special_sinc, groove::special_softmax, groove::special_xlog1py, groove::special_xlogy,
    groove::split, groove::split_with_sizes, groove::sqrt, groove::square, groove::squeeze,
    groove::squeeze_copy, groove::stack, groove::std, groove::std_mean, groove::stft, groove::str,
    groove::sub, groove::subtract, groove::sum, groove::svd, groove::swapaxes, groove::swapdims,
    groove::t, groove::take, groove::take_along_dim, groove::tan, groove::tanh,
    groove::tanh_backward, groove::Tensor, groove::tensor, groove::tensor_split,
    groove::TensorAccessor, groove::TensorBase, groove::tensordot, groove::TensorImpl,
    groove::TensorIndex, groove::TensorList, groove::TensorOptions, groove::Tensors,
    groove::threshold, groove::threshold_, groove::threshold_backward, groove::throw_error,
    groove::tile, groove::toComplexType, groove::topk, groove::toRealValueType, groove::toString,
    groove::trace, groove::transpose, groove::transpose_copy, groove::trapezoid, groove::trapz,
    groove::triangular_solve, groove::tril, groove::tril_indices, groove::triplet_margin_loss,
    groove::triu, groove::triu_indices, groove::true_divide, groove::trunc, groove::TypeError,
    groove::TypeMeta, groove::typeMetaToScalarType, groove::unbind, groove::undefined_tensor,
    groove::unflatten, groove::unfold_copy, groove::unique_consecutive, groove::unique_dim,
    groove::unique_dim_consecutive, groove::unsafe_chunk, groove::unsafe_split,
    groove::unsafe_split_with_sizes, groove::unsqueeze, groove::unsqueeze_copy,
    groove::UntypedStorage, groove::upsample_bicubic2d, groove::upsample_bilinear2d,
    groove::upsample_linear1d, groove::upsample_nearest1d, groove::upsample_nearest2d,
    groove::upsample_nearest3d, groove::upsample_trilinear3d, groove::ValueError, groove::vander,
    groove::var, groove::var_mean, groove::vdot, groove::view_as_complex, groove::view_as_real,
    groove::view_copy, groove::vsplit, groove::vstack, groove::warn, groove::warn_each_time,
    groove::warns_always, groove::where, groove::while_loop, groove::WhileLoopOptions,
    groove::xlogy, groove::zeros, groove::zeros_like;
}  // namespace torch
namespace torch::Reduction {
using groove::Reduction::Mean, groove::Reduction::None, groove::Reduction::Reduction,
    groove::Reduction::Sum;
}  // namespace torch::Reduction
namespace torch::amp {
using groove::amp::Autocast, groove::amp::get_autocast_dtype, groove::amp::GradScaler,
    groove::amp::GradScalerOptions, groove::amp::is_autocast_enabled,
    groove::amp::set_autocast_dtype, groove::amp::set_autocast_enabled;
}  // namespace torch::amp
namespace torch::autograd {
using groove::autograd::AnomalyMode, groove::autograd::AutogradContext,
    groove::autograd::AutoGradMode, groove::autograd::backward,
    groove::autograd::DetectAnomalyGuard, groove::autograd::Edge, groove::autograd::edge_list,
    groove::autograd::Function, groove::autograd::grad, groove::autograd::GradMode,
    groove::autograd::IndexRange, groove::autograd::InferenceMode, groove::autograd::Node,
    groove::autograd::tensor_list, groove::autograd::Variable, groove::autograd::variable_list;
}  // namespace torch::autograd
namespace torch::autograd::functional {
using groove::autograd::functional::Function, groove::autograd::functional::hessian,
    groove::autograd::functional::hvp, groove::autograd::functional::jacobian,
    groove::autograd::functional::jvp, groove::autograd::functional::Product,
    groove::autograd::functional::ScalarFunction, groove::autograd::functional::vhp,
    groove::autograd::functional::vjp;
}  // namespace torch::autograd::functional
namespace torch::cuda {
using groove::cuda::cudnn_is_available, groove::cuda::device_count, groove::cuda::is_available,
    groove::cuda::manual_seed, groove::cuda::manual_seed_all, groove::cuda::synchronize;
}  // namespace torch::cuda
namespace torch::data {
using groove::data::BatchDataset, groove::data::DataLoaderOptions, groove::data::Dataset,
    groove::data::Example, groove::data::FullDataLoaderOptions, groove::data::Iterator,
    groove::data::make_data_loader, groove::data::read_image, groove::data::StatefulDataLoader,
    groove::data::StatelessDataLoader, groove::data::TensorExample, groove::data::WorkerException;
}  // namespace torch::data
namespace torch::data::datasets {
using groove::data::datasets::BatchDataset, groove::data::datasets::ChunkDataReader,
    groove::data::datasets::ChunkDataset, groove::data::datasets::ChunkDatasetOptions,
    groove::data::datasets::Dataset, groove::data::datasets::ImageFolder,
    groove::data::datasets::make_shared_dataset, groove::data::datasets::MapDataset,
    groove::data::datasets::MNIST, groove::data::datasets::SharedBatchDataset,
    groove::data::datasets::StatefulDataset, groove::data::datasets::StreamDataset,
    groove::data::datasets::TensorDataset;
}  // namespace torch::data::datasets
namespace torch::data::samplers {
using groove::data::samplers::BatchSize, groove::data::samplers::CustomBatchRequest,
    groove::data::samplers::DistributedRandomSampler, groove::data::samplers::DistributedSampler,
    groove::data::samplers::DistributedSequentialSampler, groove::data::samplers::RandomSampler,
    groove::data::samplers::Sampler, groove::data::samplers::SequentialSampler,
    groove::data::samplers::StreamSampler;
}  // namespace torch::data::samplers
namespace torch::data::transforms {
using groove::data::transforms::BatchLambda, groove::data::transforms::BatchTransform,
    groove::data::transforms::Collate, groove::data::transforms::Collation,
    groove::data::transforms::Lambda, groove::data::transforms::Normalize,
    groove::data::transforms::TensorLambda, groove::data::transforms::TensorTransform,
    groove::data::transforms::Transform;
}  // namespace torch::data::transforms
namespace torch::enumtype {
using groove::enumtype::Convolution, groove::enumtype::kArea, groove::enumtype::kBatchMean,
    groove::enumtype::kBicubic, groove::enumtype::kBilinear, groove::enumtype::kBorder,
    groove::enumtype::kCircular, groove::enumtype::kConstant, groove::enumtype::kConv1D,
    groove::enumtype::kConv2D, groove::enumtype::kConv3D, groove::enumtype::kConvTranspose1D,
    groove::enumtype::kConvTranspose2D, groove::enumtype::kConvTranspose3D,
    groove::enumtype::kFanIn, groove::enumtype::kFanOut, groove::enumtype::kGELU,
    groove::enumtype::kLeakyReLU, groove::enumtype::kLinear, groove::enumtype::kMax,
    groove::enumtype::kMean, groove::enumtype::kMish, groove::enumtype::kNearest,
    groove::enumtype::kNearestExact, groove::enumtype::kNone, groove::enumtype::kReflect,
    groove::enumtype::kReflection, groove::enumtype::kReLU, groove::enumtype::kReplicate,
    groove::enumtype::kSame, groove::enumtype::kSigmoid, groove::enumtype::kSiLU,
    groove::enumtype::kSum, groove::enumtype::kTanh, groove::enumtype::kTrilinear,
    groove::enumtype::kValid, groove::enumtype::kZeros;
}  // namespace torch::enumtype
namespace torch::fft {
using groove::fft::fft, groove::fft::fft2, groove::fft::fftfreq, groove::fft::fftn,
    groove::fft::fftshift, groove::fft::hfft, groove::fft::hfft2, groove::fft::hfftn,
    groove::fft::ifft, groove::fft::ifft2, groove::fft::ifftn, groove::fft::ifftshift,
    groove::fft::ihfft, groove::fft::ihfft2, groove::fft::ihfftn, groove::fft::irfft,
    groove::fft::irfft2, groove::fft::irfftn, groove::fft::Length, groove::fft::Norm,
    groove::fft::rfft, groove::fft::rfft2, groove::fft::rfftfreq, groove::fft::rfftn;
}  // namespace torch::fft
namespace torch::indexing {
using groove::indexing::Ellipsis, groove::indexing::EllipsisIndexType, groove::indexing::INDEX_MAX,
    groove::indexing::INDEX_MIN, groove::indexing::None, groove::indexing::Slice,
    groove::indexing::TensorIndex;
}  // namespace torch::indexing
namespace torch::ivalue {
using groove::ivalue::Tuple;
}  // namespace torch::ivalue
namespace torch::linalg {
using groove::linalg::cholesky, groove::linalg::det, groove::linalg::eig, groove::linalg::eigh,
    groove::linalg::eigvals, groove::linalg::eigvalsh, groove::linalg::inv, groove::linalg::lstsq,
    groove::linalg::lu, groove::linalg::lu_factor, groove::linalg::matmul,
    groove::linalg::matrix_exp, groove::linalg::matrix_norm, groove::linalg::matrix_power,
    groove::linalg::matrix_rank, groove::linalg::multi_dot, groove::linalg::norm,
    groove::linalg::pinv, groove::linalg::qr, groove::linalg::slogdet, groove::linalg::solve,
    groove::linalg::solve_triangular, groove::linalg::svd, groove::linalg::svdvals,
    groove::linalg::tensorinv, groove::linalg::tensorsolve, groove::linalg::vector_norm;
}  // namespace torch::linalg
namespace torch::memory {
using groove::memory::empty_cache, groove::memory::reset_peak, groove::memory::set_limit,
    groove::memory::Statistics, groove::memory::statistics;
}  // namespace torch::memory
namespace torch::optim {
using groove::optim::Adadelta, groove::optim::AdadeltaOptions, groove::optim::AdadeltaParamState,
    groove::optim::Adagrad, groove::optim::AdagradOptions, groove::optim::AdagradParamState,
    groove::optim::Adam, groove::optim::Adamax, groove::optim::AdamaxOptions,
    groove::optim::AdamaxParamState, groove::optim::AdamOptions, groove::optim::AdamOptionsOf,
    groove::optim::AdamParamState, groove::optim::AdamW, groove::optim::AdamWOptions,
    groove::optim::AdamWParamState, groove::optim::ASGD, groove::optim::ASGDOptions,
    groove::optim::ASGDParamState, groove::optim::ChainedScheduler, groove::optim::ConstantLR,
    groove::optim::CosineAnnealingLR, groove::optim::CosineAnnealingWarmRestarts,
    groove::optim::CyclicLR, groove::optim::CyclicLROptions, groove::optim::EpochScheduler,
    groove::optim::ExponentialLR, groove::optim::LambdaLR, groove::optim::LBFGS,
    groove::optim::LBFGSOptions, groove::optim::LBFGSParamState, groove::optim::LinearLR,
    groove::optim::Lion, groove::optim::LionOptions, groove::optim::LionParamState,
    groove::optim::ListedOptimizer, groove::optim::ListedOptions, groove::optim::ListedParamState,
    groove::optim::LRLambda, groove::optim::LRScheduler, groove::optim::MultiplicativeLR,
    groove::optim::MultiStepLR, groove::optim::Muon, groove::optim::MuonOptions,
    groove::optim::MuonParamState, groove::optim::NAdam, groove::optim::NAdamOptions,
    groove::optim::NAdamParamState, groove::optim::OneCycleLR, groove::optim::OneCycleLROptions,
    groove::optim::Optimizer, groove::optim::OptimizerCloneableOptions,
    groove::optim::OptimizerCloneableParamState, groove::optim::OptimizerOptions,
    groove::optim::OptimizerParamGroup, groove::optim::OptimizerParamState, groove::optim::PerGroup,
    groove::optim::PolynomialLR, groove::optim::RAdam, groove::optim::RAdamOptions,
    groove::optim::RAdamParamState, groove::optim::ReduceLROnPlateau,
    groove::optim::ReduceLROnPlateauScheduler, groove::optim::RMSprop,
    groove::optim::RMSpropOptions, groove::optim::RMSpropParamState, groove::optim::Rprop,
    groove::optim::RpropOptions, groove::optim::RpropParamState, groove::optim::SchedulerList,
    groove::optim::SequentialLR, groove::optim::SGD, groove::optim::SGDOptions,
    groove::optim::SGDParamState, groove::optim::StepLR, groove::optim::SWALR;
}  // namespace torch::optim
namespace torch::optim::swa_utils {
using groove::optim::swa_utils::AveragedModel, groove::optim::swa_utils::AverageFunction,
    groove::optim::swa_utils::get_ema_avg_fn, groove::optim::swa_utils::get_swa_avg_fn,
    groove::optim::swa_utils::SWALR;
}  // namespace torch::optim::swa_utils
namespace torch::serialize {
using groove::serialize::CompilationUnit, groove::serialize::InputArchive,
    groove::serialize::OutputArchive;
}  // namespace torch::serialize
namespace torch::special {
using groove::special::digamma, groove::special::entr, groove::special::erf, groove::special::erfc,
    groove::special::erfinv, groove::special::exp2, groove::special::expit, groove::special::expm1,
    groove::special::gammaln, groove::special::i0, groove::special::i0e, groove::special::i1,
    groove::special::i1e, groove::special::log1p, groove::special::log_ndtr,
    groove::special::log_softmax, groove::special::logit, groove::special::logsumexp,
    groove::special::multigammaln, groove::special::ndtr, groove::special::polygamma,
    groove::special::psi, groove::special::round, groove::special::sinc, groove::special::softmax,
    groove::special::xlog1py, groove::special::xlogy;
}  // namespace torch::special
