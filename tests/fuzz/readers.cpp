// What reads files of others, given anything at all: each input either is read or throws
// groove::Error. libFuzzer's target; tests/fuzz/run builds and runs it. The environment variable
// FUZZ_READER names the reader: archive, checkpoint, pickle, zip, graph, idx, npy, npz,
// csv, image. With FUZZ_SEEDS it
// writes files to begin with into that folder instead, and ends.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "groove/csv.h"
#include "groove/groove.h"
#include "groove/jit/capture.h"
#include "src/data/idx.h"
#include "src/data/image_file.h"
#include "src/io/checkpoint.h"
#include "src/io/csv.h"
#include "src/io/graph_json.h"
#include "src/io/npy.h"
#include "src/io/pickle.h"
#include "src/io/zip.h"

namespace {

using groove::IValue;
using Bytes = std::string_view;

// A module into which what was read is loaded, so that names and shapes are compared, too.
void load_into_module(groove::serialize::InputArchive& archive) {
  groove::nn::Sequential net(groove::nn::Linear(4, 3), groove::nn::BatchNorm1d(3));
  net->load(archive);
}

void read_archive(Bytes bytes) {
  groove::serialize::InputArchive archive;
  archive.load_from(bytes.data(), bytes.size());
  for (const std::string& key : archive.keys()) {
    groove::Tensor tensor;
    IValue value;
    if (!archive.try_read(key, tensor)) archive.try_read(key, value);
  }
  load_into_module(archive);
}
void read_checkpoint(Bytes bytes) { groove::serialize::read_checkpoint(bytes, "input"); }
void read_pickle(Bytes bytes) {
  groove::serialize::read_pickle(bytes, "input",
                                 [](const std::string&) { return std::string(64, '\1'); });
}
void read_zip(Bytes bytes) {
  const groove::serialize::ZipReader zip(bytes, "input");
  for (const std::string& name : zip.names()) zip.read(name);
}
void read_graph(Bytes bytes) { groove::serialize::read_graph_json(std::string(bytes), "input"); }
void read_idx(Bytes bytes) {
  static const int file = memfd_create("idx", 0);
  if (ftruncate(file, 0) != 0 ||
      pwrite(file, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    std::abort();
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  for (const int dims : {1, 3}) {
    try {
      groove::data::read_idx(path, dims);
    } catch (const groove::Error&) {
    }
  }
}
void read_npy(Bytes bytes) {
  std::size_t at = 0;
  const auto source = [&](void* to, std::size_t size) {
    if (size > 0) std::memcpy(to, bytes.data() + at, size);
    at += size;
  };
  groove::serialize::read_npy(source, bytes.size(), "input");
}
void read_npz(Bytes bytes) {
  groove::serialize::read_npz(bytes, "input", [](const std::string&, const groove::Tensor&) {});
}
void read_csv(Bytes bytes) {
  for (const groove::ScalarType dtype : {groove::kFloat, groove::kHalf, groove::kByte}) {
    try {
      groove::serialize::read_csv(bytes, "input", groove::CsvOptions().dtype(dtype));
    } catch (const groove::Error&) {
    }
  }
}
void read_image(Bytes bytes) { groove::data::parse_image(bytes, "input"); }

// ---- files to begin with ----

void write(const std::string& name, Bytes bytes) {
  std::ofstream stream(std::filesystem::path(std::getenv("FUZZ_SEEDS")) / name, std::ios::binary);
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string archive_of(const std::function<void(groove::serialize::OutputArchive&)>& fill) {
  groove::serialize::OutputArchive archive;
  fill(archive);
  std::string bytes;
  archive.save_to([&](const void* piece, std::size_t size) {
    bytes.append(static_cast<const char*>(piece), size);
    return size;
  });
  return bytes;
}

IValue values() {
  groove::Dict<std::string, IValue> dict;
  dict.insert("step", 7);
  dict.insert("lr", 0.5);
  dict.insert("name", "groove");
  dict.insert("weights", groove::ones({2, 3}));
  dict.insert("half", groove::zeros({2}, groove::kHalf));
  dict.insert("sizes", std::vector<std::int64_t>{1, 2, 3});
  return dict;
}

void seed_archive() {
  write("module", archive_of([](auto& archive) {
          groove::nn::Sequential net(groove::nn::Linear(4, 3), groove::nn::BatchNorm1d(3));
          net->save(archive);
        }));
  write("values", archive_of([](auto& archive) {
          archive.write("step", IValue(3));
          archive.write("random", groove::get_random_state());
        }));
}
void seed_checkpoint() { write("values", groove::serialize::write_checkpoint(values())); }
void seed_pickle() {
  std::vector<groove::Tensor> storages;
  write("values", groove::serialize::write_pickle(values(), storages));
}
void seed_zip() {
  groove::serialize::ZipWriter zip;
  zip.add("a/data.pkl", "content");
  zip.add("a/version", "3");
  write("two", zip.finish());
}
void seed_graph() {
  const groove::jit::Graph graph = groove::jit::capture(
      [](const std::vector<groove::Tensor>& x) {
        return std::vector<groove::Tensor>{(x[0].mm(x[1]) + 0.5).relu().sum(1)};
      },
      {groove::ones({2, 3}), groove::ones({3, 4})});
  const std::string path =
      (std::filesystem::path(std::getenv("FUZZ_SEEDS")) / "graph.json").string();
  graph.save(path);
}
void seed_idx() {
  using namespace std::string_literals;
  write("images", "\0\0\x08\x03\0\0\0\1\0\0\0\2\0\0\0\2abcd"s);
  write("labels", "\0\0\x08\x01\0\0\0\3abc"s);
}
std::string npy_of(const groove::Tensor& tensor) {
  std::string bytes;
  groove::serialize::write_npy(tensor, [&](const void* piece, std::size_t size) {
    bytes.append(static_cast<const char*>(piece), size);
  });
  return bytes;
}
void seed_npy() {
  std::string bytes = npy_of(groove::ones({2, 3}));
  write("rows", bytes);
  bytes.replace(bytes.find("False"), 5, "True ").replace(bytes.find('<'), 1, ">");
  write("columns", bytes);
  write("flags", npy_of(groove::tensor({true, false})));
}
void seed_npz() {
  groove::serialize::ZipWriter zip;
  zip.add("a.npy", npy_of(groove::ones({2, 3})));
  write("one", zip.finish());
}
void seed_csv() { write("table", "a, \"b \"\"c\"\"\"\r\n1.5,-2e3\r\n\"3\", nan\r\ntrue,NA\r\n"); }
void seed_image() {
  using namespace std::string_literals;
  write("grey", "P5\n3 2\n255\nabcdef");
  write("colour", "P6 1 2 65535 abcdefabcdef");
  write("text", "P3 # comment\n1 1 15 1 2 15");
  const std::string sizes = "\2\0\0\0\2\0\0\0\1\0"s, rest = "\0"s + std::string(16, '\0');
  write("bitmap", "BM"s + std::string(8, '\0') + "\x36\0\0\0\x28\0\0\0"s + sizes + "\x18"s + rest +
                      std::string(8, '\0') + std::string(16, 'x'));
  write("palette", "BM"s + std::string(8, '\0') + "\x3e\0\0\0\x28\0\0\0"s + sizes + "\x08"s + rest +
                       "\2\0\0\0\0\0\0\0aaa\0abc\0"s + "\0\1\0\0\1\1\0\0"s);
}

struct Reader {
  void (*read)(Bytes);
  void (*seed)();
};
const Reader& reader() {
  static const std::map<std::string, Reader> readers = {
      {"archive", {read_archive, seed_archive}},
      {"checkpoint", {read_checkpoint, seed_checkpoint}},
      {"pickle", {read_pickle, seed_pickle}},
      {"zip", {read_zip, seed_zip}},
      {"graph", {read_graph, seed_graph}},
      {"idx", {read_idx, seed_idx}},
      {"npy", {read_npy, seed_npy}},
      {"npz", {read_npz, seed_npz}},
      {"csv", {read_csv, seed_csv}},
      {"image", {read_image, seed_image}},
  };
  const char* const name = std::getenv("FUZZ_READER");
  const auto found = readers.find(name ? name : "");
  if (found == readers.end()) {
    std::fprintf(stderr, "FUZZ_READER is '%s'; it must be one of:", name ? name : "");
    for (const auto& [known, unused] : readers) std::fprintf(stderr, " %s", known.c_str());
    std::fprintf(stderr, "\n");
    std::exit(2);
  }
  return found->second;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  if (std::getenv("FUZZ_SEEDS")) {
    reader().seed();
    std::exit(0);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    reader().read({reinterpret_cast<const char*>(data), size});
  } catch (const groove::Error&) {
  }
  return 0;
}
