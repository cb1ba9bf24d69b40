"""What tools/compat and tools/api-tests read from sources and from a compiler's messages."""

import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
from api_tests import chunks  # noqa: E402
from compat_survey import messages, report, sources  # noqa: E402


class Messages(unittest.TestCase):
    def test_names_what_is_missing(self):
        cases = {
            "'Foo' is not a member of 'torch::nn'; did you mean 'Fox'?": "torch::nn::Foo",
            "'class groove::Tensor' has no member named 'stft'": "torch::Tensor::stft",
            "no matching function for call to 'clip(const groove::Tensor&, int)'":
                "call clip(torch::Tensor, int)",
            "torch/script.h: No such file or directory": "header <torch/script.h>",
            "no match for 'operator<<' in 'std::cout << x' (operand types are 'std::ostream' "
            "{aka 'std::basic_ostream<char>'} and 'groove::Scalar')":
                "operator<< (std::ostream, torch::Scalar)",
            "invalid use of incomplete type 'struct groove::Node'": "incomplete torch::Node",
            "expected ';' before 'x'": None,
        }
        for text, name in cases.items():
            self.assertEqual(messages.missing_name(text), name, text)

    def test_an_error_in_a_library_belongs_to_the_line_that_asked(self):
        output = (
            "/lib/x.h: In instantiation of 'void f()':\n"
            "/own/a.cpp:7:3:   required from here\n"
            "/lib/x.h:3:1: error: 'Foo' is not a member of 'torch'\n"
            "/own/a.cpp:9:1: error: 'y' was not declared in this scope\n"
        )
        found = messages.errors(output, lambda path: path.startswith("/own/"))
        self.assertEqual([(e.file, e.line) for e in found], [("/own/a.cpp", 7), ("/own/a.cpp", 9)])

    def test_what_follows_from_an_error_is_not_missing(self):
        text = ["torch::Foo y;", "y.run();", "torch::bar();"]
        found = [
            messages.Error("a", 1, "'Foo' is not a member of 'torch'"),
            messages.Error("a", 1, "expected ';' before 'y'"),
            messages.Error("a", 2, "'y' was not declared in this scope"),
            messages.Error("a", 3, "'bar' is not a member of 'torch'"),
        ]
        self.assertEqual(
            messages.missing(found, lambda _, line: text[line - 1]), ["torch::Foo", "torch::bar"]
        )


class Sources(unittest.TestCase):
    def repository(self, files):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        for name, text in files.items():
            path = os.path.join(self.folder.name, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as stream:
                stream.write(text)
        return sources.Repository(self.folder.name, ["/usr/include"])

    def test_a_program_is_a_main_and_the_sources_of_its_headers(self):
        repository = self.repository(
            {
                "include/net.h": "#include <torch/torch.h>\n",
                "src/net.cpp": '#include "net.h"\n',
                "src/train.cpp": '#include "net.h"\n// int main() {}\n'
                'int main(int argc, char** argv) {}\n',
                "src/other.cpp": '#include <vector>\nint main() { return 0; }\n',
            }
        )
        self.assertEqual(
            repository.programs(), [("src/train.cpp", ["src/train.cpp", "src/net.cpp"])]
        )
        source = repository.sources["src/train.cpp"]
        self.assertTrue(source.uses_torch)
        self.assertEqual(source.quoted, ["include"])

    def test_the_nearest_header_of_a_name_is_meant(self):
        repository = self.repository(
            {
                "a/utils/util.h": "",
                "b/utils/util.h": "#include <torch/torch.h>\n",
                "b/src/x.cpp": '#include "utils/util.h"\n',
                "a/src/x.cpp": "#include <utils/util.h>\n",
            }
        )
        self.assertEqual(repository.sources["b/src/x.cpp"].quoted, ["b"])
        self.assertTrue(repository.sources["b/src/x.cpp"].uses_torch)
        self.assertEqual(repository.sources["a/src/x.cpp"].angled, ["a"])
        self.assertFalse(repository.sources["a/src/x.cpp"].uses_torch)


class Lacking:
    def __init__(self, label, *missing):
        self.label, self.missing = label, list(missing)


class Ranking(unittest.TestCase):
    def test_the_shortest_way_takes_what_completes_most(self):
        things = [
            Lacking("p", "a"),
            Lacking("q", "b", "c"),
            Lacking("r", "b", "c"),
            Lacking("s", "a", "d"),
        ]
        steps = [(names, done) for names, _, done in report.greedy(things)]
        self.assertEqual(steps[0], (["a"], 1))
        self.assertEqual(steps[-1][1], 4)


class Chunks(unittest.TestCase):
    TEXT = (
        "#include <a.h>\n"
        "namespace {\n"
        "struct Helper {\n  int x = 0;\n} helper;\n"
        "int twice(int x) {\n  return 2 * x;  // }\n}\n"
        "}  // namespace\n"
        "TEST_F(Suite, One) {\n  const char* text = \"}\";\n}\n"
        "TEST(Suite, Two) {}\n"
    )

    def test_pieces_keep_their_lines(self):
        found = chunks.chunks_of(self.TEXT)
        self.assertEqual(
            [(c.first, c.last, c.test) for c in found],
            [(1, 1, ""), (3, 5, ""), (6, 8, ""), (10, 12, "Suite.One"), (13, 13, "Suite.Two")],
        )
        found[3].reasons.append("fails")
        left = chunks.without(self.TEXT, found).split("\n")
        self.assertEqual(left[9:13], ["", "", "", "TEST(Suite, Two) {}"])


if __name__ == "__main__":
    unittest.main()
