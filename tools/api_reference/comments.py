#!/usr/bin/env python3
"""A filter of Doxygen: a header of Groove with its comments as Doxygen reads them.

The headers are written for people who open them: the first comment speaks of the file, a comment
stands over the first of several overloads or behind a declaration, and methods refer to the
functions of the same name. Lines are added only inside of lines, so that line numbers hold.
"""

import re
import sys

OWN_LINE = re.compile(r"^(\s*)//(/?)(?!/)\s?(.*)$")
BEHIND = re.compile(r"^(\s*\S.*?[;,{}])\s*//\s(.*)$")
FUNCTION = re.compile(r"^\s*(?!return\b|using\b|if\b|for\b)(?:[\w:<>,&*]+\s+)+[&*]?(\w+)\(")


def escaped(text):
    """What Doxygen would take for commands, tags and links of its own; `code` stays what it is."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # code that goes on in the next line: read as plain text
        parts = ["`".join(parts)]
    for i, part in enumerate(parts):
        if i % 2 == 0:
            parts[i] = re.sub(r"([\\@<>#%])", r"\\\1", part)
        elif "std::" in part:
            plain = re.sub(r"([\\@<>#%&])", r"\\\1", part).replace("::", r"\::")
            parts[i] = f"<tt>{plain}</tt>"
        else:
            parts[i] = f"`{part}`"
    return "".join(parts)


def filtered(lines, name_of_header):
    is_of_methods = "/methods/" in name_of_header
    result = []
    in_first = True  # the comment that opens the file
    pending = []  # the comment that stands over what comes next
    last_doc, last_name = None, None
    is_start = True  # does a declaration begin here?
    for line in lines:
        own = OWN_LINE.match(line)
        if own:
            text = escaped(own.group(3))
            if in_first:
                result.append(text if result else f"/** @file {name_of_header} @brief {text}")
                continue
            pending.append(text)
            result.append(f"{own.group(1)}/// {text}")
            continue
        if in_first:
            if result:
                result[-1] += " */"
            in_first = False
        behind = BEHIND.match(line)
        if behind:
            line = f"{behind.group(1)}  ///< {escaped(behind.group(2))}"
        function = FUNCTION.match(line) if is_start else None
        name = function.group(1) if function else None
        if function and pending:
            last_doc, last_name = " ".join(pending), name
        elif function and name == last_name and last_doc and not behind:
            line = f"/** {last_doc} */ {line}"
        elif function and is_of_methods and not behind:
            place = ", in place" if name.endswith("_") else ""
            line = f"/** The method of groove::{name.rstrip('_')}(){place}. */ {line}"
            last_doc = None
        elif function or not line.strip():
            last_doc = None
        pending = []
        if line.startswith("inline ") and re.search(r"\w+::\w+\(.*}$", line):
            line = f"/** @cond */ {line} /** @endcond */"  # said where it is declared
        code = re.sub(r"//.*", "", line).rstrip()
        is_start = not code or code[-1] in ";{}:" or code.startswith("#")
        result.append(line)
    return result


def main():
    path = sys.argv[1]
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    print("\n".join(filtered(lines, re.sub(".*/include/", "", path))))


if __name__ == "__main__":
    main()
