"""Asks the compiler whether sources are accepted with a library's headers, and remembers its
answers."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile

from . import linking, messages
from .sources import LIBTORCH

# Counts up when what an answer means changes: older ones are not read any more.
ANSWERS = "3"
# Errors are told at the line that uses a macro.
FLAGS = ["-std=c++20", "-fPIC", "-w", "-ftrack-macro-expansion=0"]
# A header that a library lacks is taken as empty, so that what else is missing can be told.
MOST_HEADERS = 12
MOST_ERRORS = 50
# A library's own templates wait to the end of a file to be instantiated, which takes most of the
# time. So many errors in the last lines end the compilation when all is parsed; where nothing else
# is wrong, the file is compiled once more and whole.
END = "end of file"


def digest(*parts):
    whole = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else str(part).encode()
        whole.update(b"%d:" % len(data))
        whole.update(data)
    return whole.hexdigest()[:24]


def digest_of_tree(folder):
    """A hash of all files below a folder, their names and contents."""
    parts = []
    for base, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(base, name)
            with open(path, "rb") as stream:
                parts += [os.path.relpath(path, folder), stream.read()]
    return digest(*parts)


def system_folders(compiler):
    """Where the compiler itself looks for <…>."""
    told = subprocess.run(
        [compiler, "-E", "-v", "-x", "c++", "/dev/null"],
        capture_output=True,
        text=True,
        env=dict(os.environ, LC_ALL="C"),
    ).stderr
    match = re.search(r"#include <\.\.\.> search starts here:\n(.*?)End of search list", told, re.S)
    return [row.strip() for row in match[1].split("\n") if row.strip()] if match else []


class Library:
    """Headers to compile against: include folders, and a version that changes when any header
    does."""

    def __init__(self, name, folders, version):
        self.name, self.folders, self.version = name, folders, version
        self.headers = {}  # headers whose precompiled form stands beside them
        self.is_trusted = False  # parsing a file is enough, its templates need not be instantiated

    @staticmethod
    def groove(root, cache):
        """Groove's headers as they are now: a copy, so that edits meanwhile change nothing."""
        version = digest_of_tree(os.path.join(root, "include"))
        copy = os.path.join(cache, "groove")
        if not os.path.isdir(os.path.join(copy, version)):
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(os.path.join(root, "include"), os.path.join(copy, version))
        copy = os.path.join(copy, version)
        return Library("Groove", [os.path.join(copy, "groove/compat"), copy], version)

    @staticmethod
    def libtorch(package):
        folders = linking.libtorch_folders(package)
        if not os.path.isdir(folders[1]):
            raise SystemExit(
                f"{package} has no include/torch/csrc/api; give the folder of the Python "
                "package torch (the one that holds version.py)"
            )
        with open(os.path.join(package, "version.py"), "rb") as stream:
            library = Library("LibTorch", folders, digest(stream.read()))
        library.is_trusted = True
        return library


class Answer:
    """What became of one file."""

    def __init__(self, repository, lacking=(), errors=(), outside=None):
        self.lacking = list(lacking)  # headers of the library that are missing
        self.errors = [messages.Error(*e) for e in errors]
        self.outside = outside  # a third party's header that is not installed
        self.accepted = not (self.lacking or self.errors or outside)
        self.missing = self.lacking + messages.missing(self.errors, repository.line)

    @property
    def message(self):
        """The first error, as the compiler words it."""
        if self.outside:
            return f"{self.outside}: No such file"
        first = self.errors[0] if self.errors else None
        return f"{first.file}:{first.line}: {first.text}" if first else ""

    @property
    def first(self):
        return "" if self.accepted else self.missing[0] if self.missing else self.message

    def kept(self):
        errors = [(e.file, e.line, e.text, e.column) for e in self.errors]
        return {"lacking": self.lacking, "errors": errors, "outside": self.outside}


class Compiler:
    def __init__(
        self, program, cache, include=(), define=(), costly=(), limit=600, flags=tuple(FLAGS)
    ):
        self.program, self.cache, self.limit = program, cache, limit
        self.flags = [*flags, *(f"-D{d}" for d in define)]
        self.include = list(include)
        self.costly = list(costly)  # other headers worth precompiling
        version = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
        self.version = version.split("\n")[0]
        os.makedirs(cache, exist_ok=True)

    def folders(self, library):
        found = [flag for f in library.folders for flag in ("-isystem", f)] if library else []
        return found + [flag for f in self.include for flag in ("-isystem", f)]

    def run(self, arguments):
        try:
            done = subprocess.run(
                [self.program, *arguments],
                capture_output=True,
                text=True,
                errors="replace",
                timeout=self.limit,
                env=dict(os.environ, LC_ALL="C"),
            )
        except subprocess.TimeoutExpired:
            return 1, f"compiler:1:1: error: takes more than {self.limit} seconds"
        return done.returncode, done.stderr

    def precompile(self, library, others=()):
        """Makes torch/torch.h precompiled, once a version, with other headers that a file
        includes as well; returns errors, or None."""
        folder = os.path.join(self.cache, "precompiled", library.name + library.version[:8])
        key = digest(self.version, self.flags, library.version, self.folders(library), *others)
        header = os.path.join(folder, key, "library.h")
        if not os.path.exists(header + ".gch"):
            os.makedirs(os.path.dirname(header), exist_ok=True)
            for old in os.listdir(os.path.dirname(folder)):  # one is half a gigabyte
                if old.startswith(library.name) and old != os.path.basename(folder):
                    shutil.rmtree(os.path.join(os.path.dirname(folder), old), ignore_errors=True)
            with open(header, "w") as stream:
                stream.writelines(f"#include <{h}>\n" for h in ("torch/torch.h", *others))
            status, output = self.run(
                [
                    *self.flags,
                    *self.folders(library),
                    "-x",
                    "c++-header",
                    header,
                    "-o",
                    header + ".part",
                ]
            )
            if status:
                return output
            os.rename(header + ".part", header + ".gch")
        library.headers[tuple(others)] = header
        return None

    def header_of(self, library, source):
        """What to include first: only headers that the file itself would include."""
        if not library or "torch/torch.h" not in source.outside:
            return None
        return library.headers.get(self.others_of(source))

    def others_of(self, source):
        return tuple(h for h in self.costly if h in source.outside)

    def key(self, library, repository, source):
        texts = [t for p in (source.path, *source.seen) for t in (p, repository.text(p))]
        return digest(
            ANSWERS,
            self.version,
            self.flags,
            self.include,
            library.version + str(library.is_trusted) if library else "",
            source.quoted,
            source.angled,
            *texts,
        )

    def known(self, library, repository, source):
        """The answer, if it was asked for before."""
        path = self.path(library, self.key(library, repository, source))
        if os.path.exists(path):
            with open(path) as stream:
                return Answer(repository, **json.load(stream))
        return None

    def path(self, library, key):
        return os.path.join(self.cache, library.name if library else "plain", key + ".json")

    def ask(self, library, repository, source):
        """Compiles a file of a repository; library is None for one that includes nothing of
        torch."""
        answer = self.known(library, repository, source)
        if answer is None:
            answer = self.compile(library, repository, source)
            path = self.path(library, self.key(library, repository, source))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path + ".part", "w") as stream:
                json.dump(answer.kept(), stream)
            os.rename(path + ".part", path)
        return answer

    def includes(self, library, repository, source):
        """What a compiler is told of where the headers of a repository's file lie."""
        root, flags = repository.folder, []
        for flag, names in (("-iquote", source.quoted), ("-I", source.angled)):
            for name in names:
                flags += [flag, os.path.join(root, name)]
        for name in ("", "src", "include"):  # where build files look most often
            if os.path.isdir(os.path.join(root, name)):
                flags += ["-iquote", os.path.join(root, name)]
        flags += self.folders(library)
        header = self.header_of(library, source)
        return [*flags, "-include", header] if header else flags

    def compile(self, library, repository, source):
        root = repository.folder
        folders = self.includes(library, repository, source)
        path = os.path.join(root, source.path)
        with tempfile.TemporaryDirectory() as scratch:
            wrapper = os.path.join(scratch, "parsed.cpp")
            with open(wrapper, "w") as stream:
                stream.write(
                    f'#include "{path}"\n' + f'static_assert(false, "{END}");\n' * (MOST_ERRORS + 1)
                )
            folders += ["-idirafter", scratch]
            lacking, outside, output = self.without_headers([*folders, wrapper], scratch)
            found = [] if outside else self.errors_in(output, root)
            if not found and not outside and not lacking and not (library and library.is_trusted):
                found = self.errors_in(self.check([*folders, path]), root)
        for error in found:
            error.file = os.path.relpath(error.file, root)
        return Answer(
            repository, lacking, [(e.file, e.line, e.text, e.column) for e in found], outside
        )

    def check(self, arguments):
        return self.run(
            [
                *self.flags,
                "-fsyntax-only",
                f"-fmax-errors={MOST_ERRORS}",
                "-fno-diagnostics-show-caret",
                "-fdiagnostics-color=never",
                *arguments,
            ]
        )[1]

    def without_headers(self, arguments, scratch):
        """(headers of the library that are missing, a third party's missing header, messages
        without them): an empty file in scratch stands in for each."""
        lacking = []
        while True:
            output = self.check(arguments)
            absent = re.search(r"fatal error: (.+?): No such file", output)
            if not absent:
                return lacking, None, output
            header = absent[1]
            if not header.startswith(LIBTORCH):
                return lacking, header, output
            lacking.append(f"header <{header}>")
            if len(lacking) > MOST_HEADERS:
                return lacking, None, output
            os.makedirs(os.path.dirname(os.path.join(scratch, header)), exist_ok=True)
            open(os.path.join(scratch, header), "w").close()

    def errors_in(self, output, root):
        return [
            e
            for e in messages.errors(output, lambda path: path.startswith(root))
            if not e.text.endswith(END)
        ]
