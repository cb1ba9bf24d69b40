"""A repository's C++ sources: which headers each one sees, which folders a compiler has to
search for them, and which sources make a program."""

import os
import re
from dataclasses import dataclass, field

SOURCES = (".cpp", ".cc", ".cxx", ".c++")
HEADERS = (".h", ".hh", ".hpp", ".hxx", ".h++", ".inl", ".ipp", ".tpp", ".cuh", ".inc", "")
LIBTORCH = ("torch/", "ATen/", "c10/", "caffe2/")

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.M)
MAIN = re.compile(
    r"(?<![\w.>:])(?:int|void|auto)\s+(?:[A-Z_]+\s+)?main\s*\([^;{}]*\)\s*"
    r"(?:->\s*int\s*)?(?:try\s*)?\{"
    r"|^\s*#\s*define\s+\w+_(?:CONFIG_IMPLEMENT_WITH_MAIN|CONFIG_MAIN)\b",
    re.M,
)
# A comment, or a literal, which may hold what looks like a comment.
COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def without_comments(text):
    """The text with its comments blanked; lines keep their numbers."""

    def blank(match):
        piece = match.group()
        return piece if piece[0] in "\"'" else " " + "\n" * piece.count("\n")

    return COMMENT.sub(blank, text)


def common_parts(a, b):
    """How many folders two paths share, from the root on."""
    count = 0
    for x, y in zip(a.split("/"), b.split("/")):
        if x != y:
            break
        count += 1
    return count


@dataclass
class Source:
    """A file to compile."""

    path: str  # relative to the repository
    seen: list = field(default_factory=list)  # every file of the repository that it includes
    quoted: list = field(default_factory=list)  # folders for -iquote, nearest first
    angled: list = field(default_factory=list)  # folders for -I
    outside: set = field(default_factory=set)  # headers that the repository does not have
    uses_torch: bool = False
    has_main: bool = False


class Repository:
    """The sources below a folder. Nothing of its build files is read: which folder a header's
    name starts from follows from where the tree holds a file of that name, nearest to who
    includes it."""

    def __init__(self, folder, system_folders=()):
        self.folder = os.path.abspath(folder)
        self.name = os.path.basename(self.folder)
        self.system_folders = system_folders
        self.texts = {}
        self.files = set()
        self.by_name = {}
        for base, folders, names in os.walk(self.folder):
            folders[:] = sorted(f for f in folders if not f.startswith("."))
            for name in names:
                path = os.path.relpath(os.path.join(base, name), self.folder)
                if os.path.splitext(name)[1].lower() in HEADERS + SOURCES and self.is_text(path):
                    self.files.add(path)
                    self.by_name.setdefault(name, []).append(path)
        self._includes = {}
        self.sources = {
            p: self.read_source(p) for p in sorted(self.files) if p.lower().endswith(SOURCES)
        }

    def is_text(self, path):
        full = os.path.join(self.folder, path)
        return os.path.isfile(full) and os.path.getsize(full) < 8 << 20

    def text(self, path):
        if path not in self.texts:
            with open(os.path.join(self.folder, path), errors="replace") as stream:
                self.texts[path] = stream.read()
        return self.texts[path]

    def line(self, path, number):
        """The text of a line, from 1; empty outside of the repository."""
        if path not in self.files:
            return ""
        lines = self.text(path).split("\n")
        return lines[number - 1] if number <= len(lines) else ""

    def includes(self, path):
        """[(is quoted, name)] of a file's include lines."""
        if path not in self._includes:
            found = INCLUDE.findall(without_comments(self.text(path)))
            self._includes[path] = [(mark == '"', name.strip()) for mark, name in found]
        return self._includes[path]

    def is_system(self, name):
        """A header of the compiler's own folders: the repository's file of that name is another."""
        if name.startswith(LIBTORCH):
            return True
        return "/" not in name and any(
            os.path.isfile(os.path.join(f, name)) for f in self.system_folders
        )

    def resolve(self, includer, quoted, name):
        """(file of the repository, folder to search or None) that an include line means."""
        if os.path.isabs(name) or name.startswith(LIBTORCH):
            return None, None
        if quoted:
            beside = os.path.normpath(os.path.join(os.path.dirname(includer), name))
            if beside in self.files:
                return beside, None
        elif self.is_system(name):
            return None, None
        steps = os.path.normpath(name)
        up = 0
        while steps.startswith("../"):
            steps, up = steps[3:], up + 1
        candidates = [
            p
            for p in self.by_name.get(os.path.basename(steps), ())
            if p == steps or p.endswith("/" + steps)
        ]
        if not candidates or (quoted and self.is_system(name)):
            return None, None
        best = max(candidates, key=lambda p: (common_parts(p, includer), -p.count("/"), p))
        root = best[: len(best) - len(steps)].rstrip("/")
        if up:  # "../x.h" is found from a folder below the root: any that exists will do
            below = [
                os.path.dirname(f)
                for f in self.files
                if f.startswith(root + "/" if root else "")
                and os.path.dirname(f)[len(root) :].strip("/").count("/") == up - 1
                and os.path.dirname(f) != root
            ]
            if not below:
                return None, None
            root = max(below, key=lambda p: (common_parts(p, includer), p))
        return best, root

    def read_source(self, path):
        source = Source(path)
        source.has_main = bool(MAIN.search(without_comments(self.text(path))))
        pending, seen = [path], {path}
        while pending:
            file = pending.pop(0)
            for quoted, name in self.includes(file):
                if name.startswith(LIBTORCH):
                    source.uses_torch = True
                found, root = self.resolve(file, quoted, name)
                if found is None:
                    source.outside.add(name)
                    continue
                roots = source.quoted if quoted else source.angled
                if root is not None and root not in roots:
                    roots.append(root)
                if found not in seen:
                    seen.add(found)
                    pending.append(found)
        source.seen = sorted(seen - {path})
        return source

    def programs(self):
        """[(main file, [sources])]: a file with main() and the sources whose headers it sees:
        those of the same stem, beside the header or, where there is but one, elsewhere."""
        stems = {}
        for path in self.sources:
            stems.setdefault(os.path.splitext(os.path.basename(path))[0], []).append(path)
        found = []
        for main, source in self.sources.items():
            if not source.has_main:
                continue
            members, pending = {main}, [main]
            while pending:
                for header in self.sources[pending.pop()].seen:
                    stem = os.path.splitext(os.path.basename(header))[0]
                    match = self.source_of(header, stems.get(stem, ()))
                    if match and match not in members and not self.sources[match].has_main:
                        members.add(match)
                        pending.append(match)
            if any(self.sources[m].uses_torch for m in members):
                found.append((main, [main] + sorted(members - {main})))
        return found

    def source_of(self, header, candidates):
        if header in self.sources:  # included whole
            return None
        beside = [c for c in candidates if os.path.dirname(c) == os.path.dirname(header)]
        if beside:
            return beside[0]
        # include/x.h and src/x.cpp: the source that itself sees the header.
        seeing = [c for c in candidates if header in self.sources[c].seen]
        return max(seeing, key=lambda c: (common_parts(c, header), c)) if seeing else None
