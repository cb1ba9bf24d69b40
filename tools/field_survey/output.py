"""Whether two runs of a program printed the same, but for times and what the clock decides."""

import re

# A number before a unit of time or speed, or right after a word that means one, is the clock's.
NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
UNIT = (
    r"(?:ns|us|µs|ms|s|m?secs?|(?:milli|micro|nano)?seconds?|minutes?|hours?"
    r"|fps|\w+ ?(?:/|per) ?(?:s|ms|secs?|seconds?))"
)
WORD = r"(?:\w*time|took|takes|elapsed|duration|eta|speed|fps|throughput|latency)"
TIMED = re.compile(
    rf"{NUMBER}(?=\s*{UNIT}(?![\w=:]))|(\b{WORD}\b[^\w+-]{{0,4}}){NUMBER}", re.I
)
DATES = re.compile(
    r"\b\d{4}-\d\d-\d\d(?:[ T_]\d\d[:-]\d\d(?:[:-]\d\d(?:\.\d+)?)?)?"
    r"|\b\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?\b"
)
# An address, as of a pointer or of an object that is printed by name.
ADDRESS = re.compile(r"\b0x[0-9a-f]{6,16}\b", re.I)


def filtered(line):
    """The line without what a clock or the place of memory decides."""
    line = ADDRESS.sub("<address>", DATES.sub("<date>", line))
    return TIMED.sub(lambda match: (match[1] or "") + "<time>", line)


END = re.compile(r"\r\n|\n|\r")


def lines(output, is_whole):
    """Its lines; a carriage return ends one too. The last one counts only if the output is
    whole."""
    rows = END.split(output)
    return rows if is_whole else rows[:-1]


def end_of_line(output, count):
    """Where the first so many lines end."""
    at = 0
    for _, match in zip(range(count), END.finditer(output)):
        at = match.end()
    return at


def same(a, b, is_whole):
    """(do they agree, how many lines were compared, the first that differs): of runs that were
    ended at their limit, what both had printed."""
    left, right = lines(a, is_whole), lines(b, is_whole)
    for number, (x, y) in enumerate(zip(left, right)):
        if x != y and filtered(x) != filtered(y):
            return False, number, f"line {number + 1}: eager `{x[:120]}`, automatic `{y[:120]}`"
    if is_whole and len(left) != len(right):
        return False, min(len(left), len(right)), f"{len(left)} and {len(right)} lines"
    return True, min(len(left), len(right)), ""
