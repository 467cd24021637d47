#!/usr/bin/env python3
"""Checks that every module of CMakeLists.txt links exactly what it includes: scripts/check-modules.py

PUBLIC is what a module's public headers include, PRIVATE what only its sources include, HEADERS what is needed to
compile it alone. A use that is not declared, or a declaration without a use, is an error.
"""
import pathlib
import re
import sys

# The packages by the headers that they give. No module includes any other library.
PACKAGES = {
    "fmt::fmt": r"fmt/",
    "OpenMP::OpenMP_CXX": r"omp\.h",
    "PkgConfig::xxhash": r"xxhash\.h",
    "PkgConfig::zstd": r"zstd",
    "ZLIB::ZLIB": r"zlib\.h",
    "FastFloat::fast_float": r"fast_float/",
    "Boost::headers": r"boost/",
    "Eigen3::Eigen": r"Eigen/",
    "NLopt::nlopt": r"nlopt",
}
STANDARD = re.compile(r"^[a-z_0-9]+$|^(sys/.*|fcntl|unistd|dirent|immintrin|signal|dlfcn|cpuid)(\.h)?$")


def includes_of(files):
    for file in files:
        for line in file.read_text().splitlines():
            found = re.match(r'\s*#\s*include\s*[<"]([^>"]+)[>"]', line)
            if found:
                yield file, found.group(1)


def used_by(module, modules, files):
    """The modules and packages that these files include, and where."""
    used = {}
    for file, header in includes_of(files):
        own = re.match(r"(?:tunemix/)?([a-z]+)/", header)
        name = next((package for package, pattern in PACKAGES.items() if re.match(pattern, header)), None)
        if name is None and own and own.group(1) in modules:
            name = own.group(1)
        if name is None and not STANDARD.match(header):
            sys.exit(f"{file}: includes <{header}>, of a library that {sys.argv[0]} does not know")
        if name is not None and name != module:
            used.setdefault(name, file)
    return used


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    text = (root / "CMakeLists.txt").read_text()
    declared = {}
    for body in re.findall(r"tunemix_module\(([^)]*)\)", text):
        name, *words = body.split()
        scope, parts = None, {"PUBLIC": set(), "PRIVATE": set(), "HEADERS": set()}
        for word in words:
            if word in parts:
                scope = word
            else:
                parts[scope].add(word)
        declared[name] = parts
    errors = []
    for module, parts in declared.items():
        public = used_by(module, declared, sorted((root / "include/tunemix" / module).rglob("*.h")))
        sources = [f for f in sorted((root / "src" / module).rglob("*")) if f.suffix in (".h", ".cc")]
        everything = {**used_by(module, declared, sources), **public}
        # Macros of a compiler's own headers: a pragma is a use without an include.
        if any("#pragma omp" in f.read_text() for f in sources):
            everything.setdefault("OpenMP::OpenMP_CXX", root / "src" / module)
        all_declared = parts["PUBLIC"] | parts["PRIVATE"] | parts["HEADERS"]
        for name in sorted(set(everything) - all_declared):
            errors.append(f"{module} includes {name} ({everything[name].relative_to(root)}) and does not link it")
        for name in sorted(all_declared - set(everything)):
            errors.append(f"{module} links {name} and does not include it")
        for name in sorted(parts["PUBLIC"] - set(public)):
            if name in everything:
                errors.append(f"{module} links {name} publicly and no public header includes it: make it PRIVATE")
        for name in sorted(set(public) - parts["PUBLIC"]):
            if name in all_declared:
                errors.append(f"{module} has {name} in the public header {public[name].relative_to(root)}: make it PUBLIC")
    for error in errors:
        print(error, file=sys.stderr)
    if errors:
        sys.exit(1)
    print(f"modules: {len(declared)} link exactly what they include")


main()
