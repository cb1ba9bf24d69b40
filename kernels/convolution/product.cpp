#include "kernels/convolution/product.h"

#include "kernels/contraction/epilogue.h"
#include "src/core/hash.h"

namespace groove::kernels {
namespace {

Contraction with_epilogue(ScalarType dtype, const Kernel& epilogue) {
  Contraction contraction;
  contraction.dtype = dtype;
  contraction.epilogue = epilogue;
  return contraction;
}

class ConvolutionProduct final : public ContractionCallable {
 public:
  ConvolutionProduct(ConvolutionForm form, ScalarType dtype, const ConvolutionShape& shape,
                     Backend& backend, const Kernel& epilogue)
      : form_(form),
        dtype_(dtype),
        shape_(shape),
        epilogue_(with_epilogue(dtype, epilogue), &backend) {}

  // Its memory comes from the allocator, as that of a convolution by itself does.
  std::size_t scratch_bytes(const ContractionLaunch&, int) const override { return 0; }

  void run(const ContractionLaunch& launch, int part, int parts, void*) const override {
    const ConvolutionEpilogue finish{epilogue_, launch};
    ConvolutionShape shape = shape_;
    shape.images = launch.shape.batch;
    run_convolution({form_, dtype_, shape, launch.a, launch.b, nullptr, &finish}, part, parts);
  }

  std::uint64_t structure() const override {
    std::uint64_t hash = static_cast<std::uint64_t>(form_);
    const auto mix = [&hash](std::int64_t number) {
      hash = mixed(hash, static_cast<std::uint64_t>(number));
    };
    mix(static_cast<std::int64_t>(dtype_));
    for (const std::int64_t number : {shape_.groups, shape_.in_channels, shape_.out_channels})
      mix(number);
    for (const ConvolutionAxis& axis : {shape_.height, shape_.width})
      for (const std::int64_t number :
           {axis.in, axis.out, axis.kernel, axis.stride, axis.padding, axis.dilation})
        mix(number);
    return hash;
  }

  std::string listing() const override {
    return epilogue_.is_plain() ? std::string() : epilogue_.listing();
  }

 private:
  const ConvolutionForm form_;
  const ScalarType dtype_;
  const ConvolutionShape shape_;  // of as many images as a launch says
  const Epilogue epilogue_;
};

}  // namespace

ContractionShape convolution_product_shape(ConvolutionForm form, const ConvolutionShape& s) {
  ContractionShape product;
  product.batch = s.images;
  if (form == ConvolutionForm::kForward) {
    product.m = s.groups * s.out_channels;
    product.n = s.out_plane();
    product.k = s.taps() * s.in_channels;
  } else {
    product.m = s.groups * s.in_channels;
    product.n = s.in_plane();
    product.k = s.taps() * s.out_channels;
  }
  return product;
}

std::shared_ptr<const ContractionCallable> make_convolution_product(ConvolutionForm form,
                                                                    ScalarType dtype,
                                                                    const ConvolutionShape& shape,
                                                                    Backend& backend,
                                                                    const Kernel& epilogue) {
  return std::make_shared<ConvolutionProduct>(form, dtype, shape, backend, epilogue);
}

}  // namespace groove::kernels
