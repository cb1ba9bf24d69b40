"""A C++ source as the pieces that stand at namespace level: tests, helpers, include lines. A
piece can be left out; what is left keeps its line numbers."""

import re
from dataclasses import dataclass, field

TEST = re.compile(r"\s*(?:TEST|TEST_F|TEST_P|TYPED_TEST)\s*\(\s*(\w+)\s*,\s*(\w+)\s*\)")
OPENS_NAMESPACE = re.compile(r'\s*(?:inline\s+)?namespace\b[^;{}=]*$|\s*extern\s*"[^"]*"\s*$')
TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<d>[^(\s]*)\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"|'
    r"(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])*'|[{};#\n]|[()]",
    re.S,
)


@dataclass
class Chunk:
    first: int  # its lines, from 1, both included
    last: int
    text: str
    test: str = ""  # Suite.Name of a test
    reasons: list = field(default_factory=list)  # why it is left out: messages

    @property
    def names(self):
        """What a helper declares, roughly: every word before its first brace or bracket."""
        head = re.sub(r"//[^\n]*|/\*.*?\*/", " ", self.text, flags=re.S)
        return set(re.findall(r"\w+", re.split(r"[{=]", head, maxsplit=1)[0]))


def chunks_of(text):
    """The pieces of a source, in order. Preprocessor lines other than #include, and the braces
    of namespaces, belong to none."""
    found, depth, parens, begin, namespaces = [], 0, 0, None, []
    line, position, at_line_start = 1, 0, True

    def close(last_line, stop):
        nonlocal begin
        if begin is not None:
            piece = text[begin[1] : stop]
            test = TEST.match(piece)
            found.append(Chunk(begin[0], last_line, piece, f"{test[1]}.{test[2]}" if test else ""))
        begin = None

    while position < len(text):
        match = TOKEN.search(text, position)
        stop = match.start() if match else len(text)
        between = text[position:stop]
        if between.strip():
            if begin is None:
                begin = (line, position + len(between) - len(between.lstrip()))
            at_line_start = False
        if not match:
            break
        token = match.group()
        if token == "#" and at_line_start and depth == 0 and begin is None:
            stop = match.start()
            while True:  # with its continuation lines
                end = text.find("\n", stop)
                end = len(text) if end < 0 else end
                if not text[:end].endswith("\\"):
                    break
                stop = end + 1
            directive = text[match.start() : end]
            lines = directive.count("\n")
            if re.match(r"#\s*include", directive):
                found.append(Chunk(line, line + lines, directive))
            line += lines
            position = end
            continue
        if token == "\n":
            line, at_line_start = line + 1, True
        elif token[0] in "/\"'R" and len(token) > 1:
            if begin is None and token[0] not in "/":
                begin = (line, match.start())
            line += token.count("\n")
        elif token == "(":
            parens += 1
        elif token == ")":
            parens -= 1
        elif token == "{":
            if (
                depth == 0
                and parens == 0
                and begin is not None
                and OPENS_NAMESPACE.match(text[begin[1] : match.start()])
            ):
                namespaces.append(token)
                begin = None
            else:
                depth += 1
        elif token == "}":
            if depth == 0 and namespaces:
                namespaces.pop()
                begin = None
            else:
                depth -= 1
                # A body ends its piece, but for `struct S {…};` and `x = {…};`.
                if depth == 0 and parens == 0 and not re.match(r"\s*[;,)\w]", text[match.end() :]):
                    close(line, match.end())
                elif (
                    depth == 0
                    and parens == 0
                    and re.match(r"\s*\w", text[match.end() :])
                    and begin is not None
                    and not re.match(
                        r"\s*(?:template\s*<.*?>\s*)?"
                        r"(?:struct|class|enum|union|static|auto|const|typedef)\b[^()]*$",
                        text[begin[1] : text.find("{", begin[1])],
                        re.S,
                    )
                ):
                    close(line, match.end())
        elif token == ";" and depth == 0 and parens == 0:
            if begin is not None:
                close(line, match.end())
        if token != "\n":
            at_line_start = False
        position = match.end()
    close(line, len(text))
    return found


def without(text, chunks):
    """The text with those chunks blanked that have a reason to be left out."""
    lines = text.split("\n")
    for chunk in chunks:
        if chunk.reasons:
            for number in range(chunk.first, chunk.last + 1):
                lines[number - 1] = ""
    return "\n".join(lines)
