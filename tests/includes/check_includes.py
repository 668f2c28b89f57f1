#!/usr/bin/env python3
"""Checks who includes whom: check_includes.py ROOT prints every include that the layout does not allow.

    core        includes nothing of ours but core
    algorithms  include algorithms and core
    backends/x  includes algorithms, core and itself, no other backend
    strategies  includes algorithms, core and the backends
    perf, tests include public headers and what lies in their own folder; tests/unit may see private headers, tests/simt is
                built from the CUDA backend's kernels, tests/fuzz feeds the parsers of core, packed columns and
                perf/study,
                tests/study and tests/dispatch see perf/study, tests/dispatch the chooser of core and the models of
                skybands,
                tests/device runs core's kernels on the backends' contexts,
                the conformance of packed columns runs their strategies on the sequential context
Public headers include public headers and the standard library, CUDA headers stay in backends/cuda, and nothing outside
tests includes anything of tests.
"""

import pathlib
import re
import sys

FOLDERS = ("core", "algorithms", "backends", "strategies", "perf", "tests")
SUFFIXES = {".hpp", ".h", ".cpp", ".cu", ".cuh", ".inl", ".in"}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include(?:_next)?[ \t]*(?:<([^>\n]+)>|"([^"\n]+)")', re.MULTILINE)
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
CUDA_HEADER = re.compile(
    r"^(cuda[_.\w]*\.h|cuda[_\w]*\.hpp|cuda_runtime.*|cooperative_groups.*|cub/.*|thrust/.*|cuda/.*|nv/.*|"
    r"device_launch_parameters\.h|device_functions\.h|vector_types\.h|sm_\d+.*|mma\.h|curand.*|nvToolsExt.*|nvtx3/.*)$")

# What a folder may include of ours, beside itself: prefixes of paths from the root. "public" stands for public headers.
ALLOWED = {
    "core": [],
    "algorithms": ["core/"],
    "backends": ["core/", "algorithms/"],
    "strategies": ["core/", "algorithms/", "backends/"],
    "perf": ["public"],
    "tests": ["public"],
    "tests/unit": ["public", "core/", "algorithms/", "backends/"],
    "tests/simt": ["public", "core/", "algorithms/", "backends/cuda/", "strategies/"],
    "tests/device": ["public", "core/", "backends/"],
    "tests/toy_family": ["public", "core/", "backends/"],
    "tests/strategies": ["public", "strategies/"],
    "tests/install": ["public", "strategies/"],
    "tests/cuda": ["public", "core/", "backends/cuda/"],
    "tests/study": ["public", "perf/study/"],
    "tests/dispatch": ["public", "core/choose.hpp", "core/decide.hpp", "algorithms/skyline/choices.hpp",
                       "algorithms/skyline/cost_parts.hpp", "algorithms/spatial_index/choices.hpp", "perf/study/"],
    "tests/conformance/packed_column": ["public", "core/device/", "algorithms/packed_column/"],
    "tests/fuzz": ["public", "core/", "algorithms/packed_column/", "perf/study/"],
}
# the second compares machine code with the intrinsics themselves
CUDA_SOURCES = ("backends/cuda/", "tests/simt/cost/")
STANDARD = re.compile(r"^[a-z_]+$")


def is_public(path):
    return "/include/zenith/" in path


class Tree:
    """The files of one tree, and where an include of one of them leads."""

    def __init__(self, root):
        self.root = root
        self.files = sorted(p.relative_to(root).as_posix() for folder in FOLDERS for p in (root / folder).rglob("*")
                            if p.is_file() and p.suffix in SUFFIXES)
        self.known = set(self.files)
        self.public = {path.split("/include/", 1)[1]: path for path in self.files if is_public(path)}

    def resolve(self, source, name):
        """The path from the root of the file that `name` means in `source`, None when it is not ours."""
        beside = (self.root / source).parent / name
        try:
            near = beside.resolve().relative_to(self.root.resolve()).as_posix()
        except ValueError:
            near = None
        if near in self.known:
            return near
        if name in self.known:
            return name
        if name in self.public:
            return self.public[name]
        if name.split("/", 1)[0] in FOLDERS and "/" in name:
            return name
        # a header of a directory that its folder puts on the include path
        folder = source.split("/", 1)[0]
        inside = [path for path in self.files if path.startswith(folder + "/") and path.endswith("/" + name)]
        return inside[0] if inside else None


def folder_of(path):
    """The folder whose rules hold for a file, and what counts as the folder itself."""
    parts = path.split("/")
    if parts[0] == "backends" and len(parts) > 2:
        return "backends", "/".join(parts[:2]) + "/"
    for depth in (3, 2):
        special = "/".join(parts[:depth])
        if depth < len(parts) and special in ALLOWED:
            return special, "tests/"
    return parts[0], parts[0] + "/"


def fault_of(tree, source, name):
    """Why `source` may not include `name`; None when it may."""
    if CUDA_HEADER.match(name) and not source.startswith(CUDA_SOURCES):
        return "CUDA headers stay in backends/cuda"
    target = tree.resolve(source, name)
    if is_public(source):
        if target is None and not STANDARD.match(name):
            return "public headers include the standard library and public headers"
        if target is not None and not is_public(target):
            return "public headers include no private ones"
    if target is None:
        return None
    folder, own = folder_of(source)
    if target.startswith("tests/") and not source.startswith("tests/"):
        return "the library and its tools include nothing of the tests"
    if target.startswith(own):
        return None
    for prefix in ALLOWED.get(folder, []):
        if target.startswith(prefix) or (prefix == "public" and is_public(target)):
            return None
    return f"{folder} may not include {'/'.join(target.split('/')[:2])}"


def faults(root):
    tree = Tree(root)
    for source in tree.files:
        text = COMMENT.sub(lambda m: "\n" * m.group().count("\n"),
                           (root / source).read_text(encoding="utf-8", errors="replace"))
        for found in INCLUDE.finditer(text):
            name = found.group(1) or found.group(2)
            why = fault_of(tree, source, name)
            if why:
                yield f"{source}:{text.count(chr(10), 0, found.start()) + 1}: includes {name}: {why}"


def main():
    root = pathlib.Path(sys.argv[1])
    if not (root / "core").is_dir():
        sys.exit(f"{root} has no core/: it is not the root of the tree")
    found = list(faults(root))
    for line in found:
        print(line)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
