"""What tools/field reads from what programs print, from files that they miss and from times."""

import os
import shutil
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
from compat_survey import sources  # noqa: E402
from field_survey import build, data, output, run, survey, table  # noqa: E402


class Output(unittest.TestCase):
    def test_only_the_clocks_numbers_are_left_out(self):
        same = [
            ("epoch 1 took 3.2 s, loss 0.5", "epoch 1 took 4.9 s, loss 0.5"),
            ("Elapsed time: 12 loss 0.5", "Elapsed time: 900 loss 0.5"),
            ("[100 it/s] 0.25", "[98.5 it/s] 0.25"),
            ("2026-01-02 10:11:12 loss 1", "2026-02-03 01:59:00 loss 1"),
            ("at 0x7f0012345678", "at 0x7f0087654321"),
            ("12ms", "13ms"),
        ]
        different = [
            ("epoch 1 took 3.2 s, loss 0.5", "epoch 1 took 3.2 s, loss 0.6"),
            ("loss 0.50000001", "loss 0.50000002"),
            ("sum 3 s = 4", "sum 3 s = 5"),
            ("0.5 step", "0.6 step"),
            ("accuracy 97 / samples", "accuracy 98 / samples"),
        ]
        for a, b in same:
            self.assertEqual(output.filtered(a), output.filtered(b))
        for a, b in different:
            self.assertNotEqual(output.filtered(a), output.filtered(b))

    def test_runs_that_were_ended_are_compared_as_far_as_both_got(self):
        self.assertEqual(output.same("a\nb\nc", "a\nb\n", False)[:2], (True, 2))
        self.assertEqual(output.same("a\rb\r12", "a\rb\r1", False)[:2], (True, 2))
        self.assertFalse(output.same("a\nb\n", "a\n", True)[0])
        self.assertFalse(output.same("a\nb 1", "a\nb 2", True)[0])
        self.assertEqual(output.end_of_line("a\nbc\r\nd\n", 2), 6)


class Data(unittest.TestCase):
    def test_a_name_tells_what_a_file_holds(self):
        kinds = {
            ("file", "./data/train-images-idx3-ubyte"): "digits",
            ("file", "/m/t10k-labels.idx1-ubyte"): "digits",
            ("file", "data_batch_3.bin"): "colours",
            ("file", "weights.bin"): None,
            ("file", "a/cat.JPG"): "picture",
            ("file", "net.pt"): None,
            ("folder", "/d/train"): "folder",
            ("stat", "/d/train/"): "folder",
            ("stat", "net.pt"): None,
        }
        for (demand, path), kind in kinds.items():
            self.assertEqual(data.kind_of(path, demand), kind, path)


class Worlds(unittest.TestCase):
    """Plain programs of the system stand in for those that use the library."""

    def setUp(self):
        self.cat = shutil.which("cat")
        if not shutil.which("gcc") or not self.cat:
            self.skipTest("no gcc, or no cat")
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.repository = os.path.join(self.folder.name, "repository")
        os.makedirs(os.path.join(self.repository, "src/app"))
        for name, text in (("src/app/main.cpp", "int main() {}\n"), ("src/kept.txt", "kept\n")):
            with open(os.path.join(self.repository, name), "w") as stream:
                stream.write(text)
        library = run.build_world_library(self.folder.name)
        self.world = run.World(
            os.path.join(self.folder.name, "worlds"),
            sources.Repository(self.repository),
            "src/app/main.cpp",
            library,
        )

    def shell(self, text, limit=20):
        return self.world.run("/bin/sh", ["-c", text], {}, limit)

    def test_what_is_missing_is_made_up_where_it_was_looked_for(self):
        files = ["/nowhere/at/all/a.txt", "../kept.txt", "b.pt"]
        self.assertNotEqual(self.world.run(self.cat, files, {}, 20).status, 0)
        self.assertEqual(
            self.world.missing(), [("file", "/nowhere/at/all/a.txt"), ("file", "b.pt")]
        )
        made = []
        pool = os.path.join(self.folder.name, "written")
        self.assertEqual(self.world.make_up(None, made, pool), 1)
        self.assertEqual(made, [("text", "/nowhere/at/all/a.txt")])
        done = self.world.run(self.cat, files, {}, 20)
        self.assertIn("the", done.output)
        self.assertIn("kept\n", done.output)
        self.assertEqual(self.world.missing(), [("file", "b.pt")])
        self.shell("mkdir deep; echo saved > deep/b.pt")
        self.world.collect(pool)
        self.world.run(self.cat, files, {}, 20)
        self.assertEqual(self.world.make_up(None, made, pool), 1)
        self.assertIn("saved", self.world.run(self.cat, files, {}, 20).output)

    def test_what_a_list_names_is_made_up_with_the_first_of_it(self):
        with open(self.world.in_template(os.path.join(self.world.start, "list.txt")), "w") as out:
            out.write("a/1.jpg 0 train\na/2.jpg 1 train\nb/3.jpg 1 test\nother 4.jpg\n")
        pictures = ["/pictures/a/2.jpg", "/pictures/b/3.jpg"]
        self.world.run(self.cat, pictures[:1], {}, 20)
        self.assertEqual(self.world.make_up(None, [], ""), 1)
        self.assertEqual(self.world.run(self.cat, pictures, {}, 20).status, 0)

    def test_a_run_leaves_nothing_to_the_next(self):
        changes = "echo changed > src/kept.txt; mkdir new; echo x > new/file; cat src/kept.txt"
        done = self.shell(changes)
        self.assertEqual((done.status, done.output), (0, "changed\n"))
        self.assertEqual(sorted(done.files), ["repository/new/file", "repository/src/kept.txt"])
        self.assertEqual(done.files, self.shell(changes).files)
        self.assertEqual(self.shell("cat src/kept.txt; ls -d new").output, "kept\n")
        with open(os.path.join(self.repository, "src/kept.txt")) as stream:
            self.assertEqual(stream.read(), "kept\n")

    def test_the_limit_ends_a_run_and_what_it_printed_is_kept(self):
        done = self.shell("echo begun; while true; do :; done", limit=1)
        self.assertTrue(done.is_ended)
        self.assertFalse(done.has_failed)
        self.assertEqual(done.output, "begun\n")
        self.assertLessEqual(done.seconds_at(1), done.seconds)


class Figures(unittest.TestCase):
    def ended(self, printed, stamps):
        return run.Run(-15, 9.0, printed, "", True, [run.Stamp(*s) for s in stamps])

    def test_times_are_compared_where_both_have_got_to(self):
        eager = self.ended("1\n2\n", [(2, 3.0), (4, 8.0)])
        auto = self.ended("1\n2\n3\n", [(2, 3.5), (4, 5.0), (6, 6.0)])
        self.assertEqual(survey.ratio(auto, eager), (5.0, 8.0))
        auto.operators, eager.operators = 300, 100  # the lines say more
        self.assertEqual(survey.ratio(auto, eager), (5.0, 8.0))
        eager.output = "1\n"
        self.assertEqual(survey.ratio(auto, eager), (9.0, 27.0))
        self.assertIsNone(survey.ratio(auto, self.ended("", [])))
        whole = run.Run(0, 2.0, "x", "", False, [])
        self.assertEqual(survey.ratio(whole, whole), (2.0, 2.0))

    def test_what_falls_short(self):
        row = survey.Row("p", True, "runs", bits="same", share=0.95, eager_seconds=1.0,
                         automatic_seconds=1.02, to_eager=1.02)  # fmt: skip
        self.assertEqual(table.falls_short(row), [])
        row.share, row.automatic_seconds, row.to_eager = 0.89, 1.1, 1.1
        self.assertEqual(table.falls_short(row), ["compiled", "slower"])
        row.bits = "DIFFER"
        self.assertIn("bits", table.falls_short(row))
        self.assertIn("programs 1, compile 1, run 1", table.summary([row])[0])

    def test_what_a_linker_lacks_is_looked_for_in_other_sources(self):
        told = "x.o: undefined reference to `mine::twice(int)'\nundefined reference to `once'\n"
        self.assertEqual(build.undefined(told), {"twice", "once"})
        with tempfile.TemporaryDirectory() as folder:
            texts = {
                "a/main.cpp": "int main() { return twice(1); }\n",
                "b/user.cpp": "int f() {\n  return twice(2);\n}\n",
                "b/more.cpp": "int twice(int x) {\n  return 2 * x;\n}\n",
                "b/table.cpp": "const char* Table::names[2] = {};\nconst char* first = names[0];\n",
            }
            for name, text in texts.items():
                os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
                with open(os.path.join(folder, name), "w") as stream:
                    stream.write(text)
            repository = sources.Repository(folder)
            self.assertEqual(build.defining(repository, ["a/main.cpp"], {"twice"}), ["b/more.cpp"])
            self.assertEqual(build.defining(repository, ["b/more.cpp"], {"names"}), ["b/table.cpp"])

    def test_headers_tell_what_is_linked(self):
        flags = build.link_flags(["vector", "mine/x.h", "fmt/core.h"], [("mine/", ["-lmine"])])
        self.assertEqual(flags, ["-lmine", "-lfmt"])


if __name__ == "__main__":
    unittest.main()
