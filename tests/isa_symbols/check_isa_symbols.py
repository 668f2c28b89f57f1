#!/usr/bin/env python3
"""Checks one instruction set's object files: check_isa_symbols.py NM ISA OBJECT...

Whatever another unit could be linked against must carry the instruction set's name, in its namespace or in its template
arguments. A weak symbol without it may be the same inline function as in a baseline unit, and then the linker keeps
either of the two: code for a CPU that has AVX-512 would run on one that has not.
"""

import re
import subprocess
import sys

# Data, no code: the pointer to the exception handling routine, the same in every C++ object, and the address
# sanitizer's mark of a global.
HARMLESS = re.compile(r"^(DW\.ref\.|__odr_asan\.)")


def symbols(nm, objects):
    listing = subprocess.run([nm, "-C", "--defined-only", "--format=posix", *objects], check=True, capture_output=True,
                             text=True).stdout
    for line in listing.splitlines():
        found = re.match(r"^(.+) ([A-Za-z?]) [0-9a-f]*(?: [0-9a-f]*)?$", line)
        if found:
            yield found.group(1), found.group(2)


def is_shared(kind):
    """Weak, unique, common and global symbols meet those of other units; local ones do not."""
    return kind.isupper() and kind != "U" or kind in "uvw"


def faults(all_symbols, isa):
    named = re.compile(rf"\b{isa}(?:bw|dq|cd|f)?\b")
    for name, kind in all_symbols:
        if is_shared(kind) and not HARMLESS.match(name) and not named.search(name):
            yield f"{kind} {name}"


def main():
    nm, isa, *objects = sys.argv[1:]
    if not objects:
        sys.exit("no objects given")
    seen = list(symbols(nm, objects))
    if not any(is_shared(kind) and isa in name for name, kind in seen):
        sys.exit(f"the objects hold nothing of {isa}: they are not its unit")
    found = list(faults(seen, isa))
    for line in found:
        print(f"without {isa} in its name: {line}")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
