// The op registry and the way of a call through the layers.
#include "src/core/dispatch.h"

#include <gtest/gtest.h>

#include "groove/factories.h"
#include "src/core/generator.h"

namespace groove {
namespace {

const Op& probe_op() {
  static const Op& op = define({.name = "core_test_probe",
                                .kind = OpKind::kOpaque,
                                .inputs = -1,
                                .attributes = {{"dim", AttrType::kInt},
                                               {"sizes", AttrType::kInts},
                                               {"keep", AttrType::kBool},
                                               {"eps", AttrType::kDouble},
                                               {"more", AttrType::kInts},
                                               {"dtype", AttrType::kDtype}}});
  return op;
}

std::string trail;

void tracer(const Call& call, Tensor* outputs) {
  trail += "t";
  dispatch_below(DispatchLayer::kTracer, call, outputs);
}
void autodiff(const Call& call, Tensor* outputs) {
  trail += "a";
  dispatch_below(DispatchLayer::kAutodiff, call, outputs);
}
void eager(const Call& call, Tensor* outputs) {
  trail += call.is_inplace ? "E" : "e";
  outputs[0] = call.inputs[0];
}

class Dispatch : public ::testing::Test {
 protected:
  void SetUp() override {
    register_handler(DispatchLayer::kTracer, tracer);
    register_handler(DispatchLayer::kAutodiff, autodiff);
    register_handler(DispatchLayer::kEager, eager);
    trail.clear();
  }
};

TEST(Registry, InternsAndFinds) {
  const Op& op = probe_op();
  EXPECT_EQ(find_op("core_test_probe"), &op);
  EXPECT_EQ(find_op("no such op"), nullptr);
  EXPECT_EQ(all_ops()[static_cast<std::size_t>(op.id)], &op);
  EXPECT_DEATH(define({.name = "core_test_probe"}), "core_test_probe is defined twice");
}

TEST(Registry, AttributesReadBackByField) {
  Attrs attrs;
  attrs.add(-2)
      .add(IntArrayRef{3, 4})
      .add(std::int64_t{1})
      .add_double(1e-5)
      .add(IntArrayRef{})
      .add(kDouble);
  const AttrReader read(probe_op(), attrs);
  EXPECT_EQ(read.integer(0), -2);
  EXPECT_EQ(read.integers(1), (IntArrayRef{3, 4}));
  EXPECT_TRUE(read.boolean(2));
  EXPECT_EQ(read.real(3), 1e-5);
  EXPECT_TRUE(read.integers(4).empty());
  EXPECT_EQ(read.dtype(5), kDouble);
  Attrs same = attrs, other = attrs;
  EXPECT_TRUE(same == attrs);
  other.add(1);
  EXPECT_FALSE(other == attrs);
}

TEST_F(Dispatch, LayersInOrderAndMissingOnesAreSkipped) {
  Tensor x = tensor(1.0);
  EXPECT_TRUE(call(probe_op(), {x}, Site::current()).is_same(x));
  EXPECT_EQ(trail, "tae");
  register_handler(DispatchLayer::kAutodiff, nullptr);
  call(probe_op(), {x}, Site::current());
  EXPECT_EQ(trail, "taete");
  EXPECT_TRUE(call_inplace(probe_op(), x, {}, Site::current()).is_same(x));
  EXPECT_EQ(trail, "taetetE");
}

TEST_F(Dispatch, OverrideReplacesAllAndNests) {
  const Tensor x = tensor(1.0);
  const auto append = [](void* context, const Call& call, Tensor* outputs) {
    trail += static_cast<const char*>(context);
    outputs[0] = call.inputs[0];
  };
  char outer[] = "o", inner[] = "i";
  {
    const DispatchOverride first(append, outer);
    call(probe_op(), {x}, Site::current());
    {
      const DispatchOverride second(append, inner);
      call(probe_op(), {x}, Site::current());
    }
    call(probe_op(), {x}, Site::current());
  }
  call(probe_op(), {x}, Site::current());
  EXPECT_EQ(trail, "oiotae");
}

TEST_F(Dispatch, SitesOfLibraryCodeAreTheUsersLineAndAnOrdinal) {
  const Site outer = Site::current();
  const Site inside = Site::current();
  EXPECT_EQ(site_key(inside).line, inside.line());
  EXPECT_EQ(site_key(inside).ordinal, 0u);
  {
    const SiteScope scope(outer);
    const SiteScope nested(inside);
    const SiteKey first = site_key(inside), second = site_key(inside);
    EXPECT_EQ(first.line, outer.line());
    EXPECT_EQ(second.ordinal, first.ordinal + 1);
  }
  EXPECT_EQ(site_key(inside).line, inside.line());
}

TEST_F(Dispatch, BigWordsExpandWithoutATracer) {
  int expanded = 0;
  const Attrs attrs{};
  run_library_call(LibraryCall{&probe_op(), {}, &attrs, {}, Site::current()}, [&] { ++expanded; });
  EXPECT_EQ(expanded, 1);
}

TEST(Generator, SeedAndDraws) {
  manual_seed(7);
  EXPECT_EQ(draw_next().number, 0u);
  const Draw second = draw_next();
  EXPECT_EQ(second.seed, 7u);
  EXPECT_EQ(second.number, 1u);
  const RandomState state = get_random_state();
  EXPECT_EQ(draw_many(5).number, 2u);
  EXPECT_EQ(draw_next().number, 7u);
  set_random_state(state);
  EXPECT_EQ(draw_next().number, 2u);
  EXPECT_EQ(initial_seed(), 7u);
}

}  // namespace
}  // namespace groove
