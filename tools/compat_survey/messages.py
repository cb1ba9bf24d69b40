"""What a compiler's messages say is missing: a name, a header, a conversion, an overload."""

import re

LINE = re.compile(
    r"^(?P<file>[^:\n]+):(?P<line>\d+):(?:(?P<column>\d+):)? (?P<kind>(?:fatal )?error|note|warning|"
    r"  required .*?|required .*?|sorry, unimplemented)(?:: (?P<text>.*))?$"
)
REQUIRED = re.compile(
    r"^(?P<file>[^:\n]+):(?P<line>\d+):(?:\d+:)?\s+(?:recursively )?required (?:from|by)"
)

LONG = [
    (re.compile(r"std::__cxx11::basic_string<char>(::\w+)?"), "std::string"),
    (
        re.compile(
            r"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> ?>"
        ),
        "std::string",
    ),
    (re.compile(r"std::(__cxx11|__1|__detail|inline_v1)::"), "std::"),
    (re.compile(r" \[with [^\]]*\]"), ""),
    (re.compile(r" ?\{aka [^{}]*\}"), ""),
    (re.compile(r"std::basic_ostream<char>(::__ostream_type)?"), "std::ostream"),
    (re.compile(r", std::allocator<[^<>]*> ?>"), ">"),
    (re.compile(r"<brace-enclosed initializer list>"), "{…}"),
    (re.compile(r"\b(class|struct|enum|using|const class|typename) (?=[\w:])"), ""),
    (re.compile(r"\b(?:groove|at|c10)::(?=\w)"), "torch::"),
    (re.compile(r"\btorch::torch::"), "torch::"),
]


def shorten(text, width=110):
    for pattern, short in LONG:
        text = pattern.sub(short, text)
    text = " ".join(text.split())
    return text if len(text) <= width else text[: width - 1] + "…"


def last_name(text):
    """`Tensor` of `const torch::Tensor&`."""
    text = re.sub(r"<.*", "", text)
    text = re.sub(r"\b(const|std::remove_reference\w*|static|virtual|constexpr)\b|[&*]", "", text)
    return text.strip().split(" ")[-1]


def arguments(call):
    """`f(A&, B)` shortened to `f(A, B)`."""
    call = re.sub(r"\s*&+|\bconst \b", "", call)
    return shorten(call)


def named(where, name):
    whole = shorten(f"{where}::{name}" if where else name)
    if re.match(r"(?:nn|optim|data|jit|autograd)::", whole):  # of `using namespace torch`
        whole = "torch::" + whole
    return whole


# (what the message looks like, what is missing); the first that fits counts.
PATTERNS = [
    (r"^(.+?): No such file or directory", lambda m: f"header <{m[1]}>"),
    (r"'(.+?)' is not a member of '(.+?)'", lambda m: named(m[2], m[1])),
    (
        r"'(.+?)' in (?:namespace |class |struct )?'(.+?)' does not name a (?:template )?type",
        lambda m: named(m[2], m[1]),
    ),
    (
        r"no (?:class template|type|template) named '(.+?)' in '(.+?)'",
        lambda m: named(last_name(m[2]), m[1]),
    ),
    (r"'(.+?)' has no member named '(.+?)'", lambda m: named(last_name(shorten(m[1])), m[2])),
    (
        r"'(.+?)' is not a (?:class, namespace, or enumeration|namespace-name)",
        lambda m: shorten(m[1]),
    ),
    (r"no matching function for call to '(.+)'", lambda m: "call " + arguments(m[1])),
    (r"call of overloaded '(.+)' is ambiguous", lambda m: "ambiguous " + arguments(m[1])),
    (r"no match for call to '(.+)'", lambda m: "call " + arguments(m[1])),
    (
        r"no match for '(operator.+?)'(?: in '.*')? "
        r"\(operand types? (?:are|is) '(.+?)' and '(.+?)'\)",
        lambda m: f"{m[1]} ({arguments(m[2])}, {arguments(m[3])})",
    ),
    (
        r"no match for '(operator.+?)'(?: in '.*')? \(operand types? (?:are|is) '(.+?)'\)",
        lambda m: f"{m[1]} ({arguments(m[2])})",
    ),
    (
        r"ambiguous overload for '(operator.+?)'(?: in '.*')? "
        r"\(operand types are '(.+?)' and '(.+?)'\)",
        lambda m: f"ambiguous {m[1]} ({arguments(m[2])}, {arguments(m[3])})",
    ),
    (r"invalid use of incomplete type '(.+?)'", lambda m: f"incomplete {shorten(m[1])}"),
    (r"'(.+?)' has incomplete type", lambda m: f"incomplete type of {shorten(m[1])}"),
    (
        r"could not convert '.*' from '(.+?)' to '(.+?)'",
        lambda m: f"convert {arguments(m[1])} to {arguments(m[2])}",
    ),
    (
        r"cannot convert '(.+?)' to '(.+?)'",
        lambda m: f"convert {arguments(m[1])} to {arguments(m[2])}",
    ),
    (
        r"conversion from '(.+?)' to (?:non-scalar type )?'(.+?)' (?:requested|is ambiguous)",
        lambda m: f"convert {arguments(m[1])} to {arguments(m[2])}",
    ),
    (
        r"invalid conversion from '(.+?)' to '(.+?)'",
        lambda m: f"convert {arguments(m[1])} to {arguments(m[2])}",
    ),
    (
        r"invalid initialization of reference of type '(.+?)' from expression of type '(.+?)'",
        lambda m: f"convert {arguments(m[2])} to {arguments(m[1])}",
    ),
    (
        r"cannot bind .*? of type '(.+?)' to .*? of type '(.+?)'",
        lambda m: f"bind {shorten(m[2])} to {shorten(m[1])}",
    ),
    (r"use of deleted function '(.+)'", lambda m: "deleted " + arguments(m[1])),
    (r"marked 'override', but does not override", lambda m: "override: " + shorten(m.string)),
    (r"static assertion failed: (.+)", lambda m: "static_assert " + shorten(m[1])),
    (
        r"too (many|few) arguments to function '(.+?)'",
        lambda m: f"too {m[1]} arguments {arguments(m[2])}",
    ),
    (r"reference to '(.+?)' is ambiguous", lambda m: f"ambiguous {shorten(m[1])}"),
    (
        r"'(.+?)' (?:was not declared in this scope|has not been declared|"
        r"does not name a (?:template )?type|"
        r"was not declared)",
        lambda m: shorten(m[1]),
    ),
    (r"there are no arguments to '(.+?)' that depend", lambda m: m[1]),
    (r"class '(.+?)' does not have any field named '(.+?)'", lambda m: named(shorten(m[1]), m[2])),
    (
        r"(?:expected class-name|type '(.+?)' is not a base type)",
        lambda m: "base " + shorten(m[1] or "class"),
    ),
]
PATTERNS = [(re.compile(p), f) for p, f in PATTERNS]
# What a line with an error would have declared, when a later line misses it.
FOLLOWS = re.compile(
    r"^'(\w+)' (?:was not declared|does not name a|has not been declared)|"
    r"incomplete type '(?:class |struct )?(\w+)'|"
    r"^'(?:const )?(?:class |struct )(\w+)' has no member named|"
    r"^class '(\w+)' does not have any field"
)
NO_BASE = re.compile(r"^expected (?:template|class)-name before ")
PARSE = re.compile(
    r"^(?:expected |template argument \d+ is invalid|wrong number of template arguments|"
    r"invalid type in declaration|'auto' .* unable|unable to deduce|"
    r"declaration does not declare anything|.*is not a type$|"
    r"(?:request for member|use of 'auto'|variable or field|cannot deduce)|"
    r"'override' |.*: no matching|use of '.*' before deduction)"
)


def missing_name(text):
    """The thing that an error message says is missing; None where it names none."""
    text = re.sub(r" \{aka '[^']*'\}", "", text)
    for pattern, name in PATTERNS:
        match = pattern.search(text)
        if match:
            return name(match)
    return None


class Error:
    """One message, at the line of the program's own file that it comes from; the column counts only
    where the message itself stands there."""

    def __init__(self, file, line, text, column=0):
        self.file, self.line, self.text, self.column = file, line, text, column


def errors(output, is_own):
    """The errors in a compiler's output. One inside a library's header is put at the line of the
    program that asked for it (is_own says whether a path is the program's)."""
    found, asked = [], None
    for row in output.split("\n"):
        required = REQUIRED.match(row)
        if required:
            if is_own(required["file"]):
                asked = required["file"], int(required["line"])
            continue
        match = LINE.match(row)
        if not match or "error" not in match["kind"] or not match["text"]:
            if re.match(r"^\S.*: (?:In|At) ", row):
                asked = None
            continue
        place = match["file"], int(match["line"])
        if not is_own(place[0]) and asked:
            place = asked
        asked = None
        column = int(match["column"] or 0) if place[0] == match["file"] else 0
        found.append(Error(*place, match["text"], column))
    return found


def missing(found, line_text):
    """What a list of errors lacks, in order, without what only follows from an error before: a
    second message for a line, an unknown name that a line with an error declares, and, where
    anything else is known, a parser's complaint. line_text(file, line) gives the program's text."""
    names, lines, declared, complaints = [], set(), set(), []
    for error in found:
        place = (error.file, error.line)
        if place in lines:
            continue
        follows = FOLLOWS.search(error.text)
        if follows and next(filter(None, follows.groups())) in declared:
            lines.add(place)
            continue
        name = None if PARSE.match(error.text) else missing_name(error.text)
        if NO_BASE.match(error.text) and error.column:
            before = line_text(error.file, error.line)[: error.column - 1]
            base = re.findall(r"[\w:]+", before)
            name = named("", base[-1]) if base else None
        if name is None:
            complaints.append(shorten(error.text))
        elif name not in names:
            names.append(name)
        lines.add(place)
        declared.update(re.findall(r"\w+", line_text(error.file, error.line)))
    return names or complaints[:1]
