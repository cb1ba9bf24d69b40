"""Finds which tests of a file compile against a library, and makes a program of these."""

import os
import re
import shutil
import subprocess

from compat_survey import messages
from . import chunks

# Errors are told at the line that uses a macro, which is how they find their test.
FLAGS = ["-std=c++20", "-w", "-O0", "-ftrack-macro-expansion=0"]
MOST_ERRORS = 2000
END = "end of file"
SET_ASIDE = "set aside"
ROUNDS = 40
HEADERS = ("support.h", "init_baseline.h", "optim_baseline.h")


class Library:
    """What to compile and link with."""

    def __init__(self, name, folders, link, environment=None):
        self.name, self.folders, self.link = name, folders, link
        self.environment = environment or {}
        self.header = None

    def flags(self):
        return [*FLAGS, *[f for folder in self.folders for f in ("-isystem", folder)]]


def run(arguments, limit=1800):
    try:
        done = subprocess.run(
            arguments,
            capture_output=True,
            text=True,
            errors="replace",
            env=dict(os.environ, LC_ALL="C"),
            timeout=limit,
        )
    except subprocess.TimeoutExpired:
        return 1, f"compiler:1:1: error: takes more than {limit} seconds"
    return done.returncode, done.stderr


def precompile(library, folder, compiler):
    """Precompiles what every file includes; returns messages, or None."""
    os.makedirs(folder, exist_ok=True)
    header = os.path.join(folder, "common.h")
    with open(header, "w") as stream:
        stream.write("#include <torch/torch.h>\n#include <gtest/gtest.h>\n")
    status, output = run(
        [compiler, *library.flags(), "-x", "c++-header", header, "-o", header + ".gch"]
    )
    library.header = header
    return output if status else None


class File:
    """One file of tests and the headers beside it, without what does not compile."""

    def __init__(self, source, name, folder, is_counted):
        self.name, self.folder = name, folder
        api = os.path.join(source, "test/cpp/api")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(
            os.path.join(source, "test/cpp/common"), os.path.join(folder, "test/cpp/common")
        )
        os.makedirs(os.path.join(folder, "test/cpp/api"))
        self.texts, self.chunks = {}, {}
        for part in (name, "support.cpp", *HEADERS):
            with open(os.path.join(api, part)) as stream:
                self.texts[part] = stream.read()
            self.chunks[part] = chunks.chunks_of(self.texts[part])
        self.tests = [c for c in self.chunks[name] if c.test and is_counted(c.test)]
        for chunk in self.chunks[name]:
            if chunk.test and not is_counted(chunk.test):
                chunk.reasons.append("not counted")
        self.failure = []  # what makes all tests of the file fail
        self.program = None

    def path(self, part=None):
        return os.path.join(self.folder, "test/cpp/api", part or self.name)

    def write(self):
        for part, text in self.texts.items():
            with open(self.path(part), "w") as stream:
                stream.write(chunks.without(text, self.chunks[part]))
        with open(os.path.join(self.folder, "parsed.cpp"), "w") as stream:
            stream.write(
                f'#include "{self.path()}"\n'
                + f'static_assert(false, "{END}");\n' * (MOST_ERRORS + 1)
            )

    def compile(self, compiler, library, arguments):
        return run(
            [
                compiler,
                *library.flags(),
                "-I",
                self.folder,
                "-include",
                library.header,
                f"-fmax-errors={MOST_ERRORS}",
                "-fno-diagnostics-show-caret",
                "-fdiagnostics-color=never",
                *arguments,
            ]
        )

    def reject(self, output):
        """Leaves out the pieces that the messages complain of; false if they complain of none."""
        rejected = {}
        own = os.path.join(self.folder, "test/cpp/api") + "/"
        for error in messages.errors(output, lambda path: path.startswith(own)):
            if error.text.endswith(END):
                continue
            part = os.path.basename(error.file)
            chunk = next(
                (
                    c
                    for c in self.chunks.get(part, ())
                    if c.first <= error.line <= c.last and not c.reasons
                ),
                None,
            )
            if chunk is not None:
                rejected.setdefault(id(chunk), (chunk, part, []))[2].append(error)
        for chunk, part, found in rejected.values():
            lines = self.texts[part].split("\n")
            chunk.reasons = self.explain(messages.missing(found, lambda _, n: lines[n - 1])) or [
                found[0].text
            ]
            # A header or using-line that fails is part of every test of the file.
            if (
                not chunk.test
                and part == self.name
                and re.match(r"#|using\b|namespace\b", chunk.text)
            ):
                self.failure += chunk.reasons
        return bool(rejected)

    def explain(self, names):
        """Names that a helper would declare which did not compile become what that one lacks."""
        found = []
        for name in names:
            last = re.split(r"::|\(", name.removeprefix("call "))[0 if "(" in name else -1].split(
                " "
            )[-1]
            helper = next(
                (
                    c
                    for part in self.chunks.values()
                    for c in part
                    if c.reasons and not c.test and last in c.names
                ),
                None,
            )
            for reason in helper.reasons if helper else [name]:
                if reason not in found:
                    found.append(reason)
        return found

    def build(self, compiler, library, main_object):
        """Makes self.program of the tests that compile and link; without an object that holds
        main(), only tells which compile."""
        for round_ in range(ROUNDS):
            self.write()
            output = self.compile(
                compiler, library, ["-fsyntax-only", os.path.join(self.folder, "parsed.cpp")]
            )[1]
            if not self.reject(output):
                break
        binary = os.path.join(self.folder, "tests")
        objects = [os.path.join(self.folder, name) for name in ("tests.o", "support.o")]
        for round_ in range(ROUNDS):
            if not any(not t.reasons for t in self.tests):
                return
            self.write()
            how = ["-o", objects[0], "-c"] if main_object else ["-fsyntax-only"]
            status, output = self.compile(compiler, library, [*how, self.path()])
            if status:
                if self.reject(output) or self.reject_by_trial(compiler, library, output):
                    continue
                self.failure.append("does not compile: " + output[-400:])
                return
            if not main_object:
                return
            support = (
                self.compile(compiler, library, ["-c", self.path("support.cpp"), "-o", objects[1]])[
                    0
                ]
                == 0
            )
            status, output = run(
                [
                    compiler,
                    *objects[: 1 + support],
                    main_object,
                    "-o",
                    binary,
                    *library.link,
                    "-lgtest",
                    "-lpthread",
                ]
            )
            if status == 0:
                self.program = binary
                return
            if not self.reject_undefined(output):
                self.failure.append("does not link: " + output[-400:])
                return

    def reject_by_trial(self, compiler, library, output):
        """Leaves out the tests that make errors which name no line of theirs, found by halving;
        false if there are none. Those that mention a module that the messages name come first."""
        left = [t for t in self.tests if not t.reasons]
        modules = set(re.findall(r"(\w+)Impl\b", output))
        named = [t for t in left if modules & set(re.findall(r"\w+", t.text))]
        for group in (named, left):
            self.halve(compiler, library, group, left)
            if any(t.reasons for t in left):
                return True
        return False

    def halve(self, compiler, library, group, left):
        if not group:
            return
        for test in left:
            if not test.reasons and not any(test is g for g in group):
                test.reasons = [SET_ASIDE]
        self.write()
        status, output = self.compile(compiler, library, ["-fsyntax-only", self.path()])
        for test in left:
            if test.reasons == [SET_ASIDE]:
                test.reasons = []
        if not status:
            return
        if len(group) == 1:
            found = messages.errors(output, lambda path: False)
            group[0].reasons = messages.missing(found, lambda *_: "") or ["does not compile"]
            return
        self.halve(compiler, library, group[: len(group) // 2], left)
        self.halve(compiler, library, group[len(group) // 2 :], left)

    def reject_undefined(self, output):
        """Leaves out the tests that use what a library declares and does not define."""
        inside, found = None, False
        for row in output.split("\n"):
            place = re.search(r"in function `(.*)'", row)
            if place:
                inside = place[1]
            undefined = re.search(r"undefined reference to `(.*)'", row)
            if undefined and inside:
                for test in self.tests:
                    if not test.reasons and test.test.replace(".", "_") + "_Test" in inside:
                        test.reasons = ["undefined " + messages.arguments(undefined[1])]
                        found = True
        return found
