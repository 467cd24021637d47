#!/usr/bin/env python3
"""Checks that every module of CMakeLists.txt links exactly what it includes: scripts/check-modules.py

PUBLIC is what a module's public headers include, PRIVATE what only its sources include, HEADERS what is needed to
compile it alone. A use that is not declared, or a declaration without a use, is an error. The program's library (pipeline) and
the Python module link exactly what they include, too.
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
    "CLI11::CLI11": r"CLI/",
    "nlohmann_json::nlohmann_json": r"nlohmann/",
    "yaml-cpp": r"yaml-cpp/",
    "OpenSSL::SSL": r"openssl/",
    "pybind11": r"pybind11/",
}
# Libraries that are no modules of CMakeLists.txt: the target and its folder of sources.
OTHERS = {"pipeline": ("tunemix_pipeline", "pipeline"), "python": ("tunemix_python", "python/src")}
STANDARD = re.compile(r"^[a-z_0-9]+$|^(sys/.*|fcntl|poll|unistd|dirent|immintrin|signal|malloc|mntent|pthread|dlfcn|cpuid)(\.h)?$")


def includes_of(files):
    for file in files:
        for line in file.read_text().splitlines():
            found = re.match(r'\s*#\s*include\s*[<"]([^>"]+)[>"]', line)
            if found:
                yield file, found.group(1)


def used_by(module, modules, files, own_headers=()):
    """The modules and packages that these files include, and where."""
    used = {}
    for file, header in includes_of(files):
        if header in own_headers:
            continue
        own = re.match(r"(?:tunemix/)?([a-z]+)/", header)
        name = next((package for package, pattern in PACKAGES.items() if re.match(pattern, header)), None)
        if name is None and own and own.group(1) in modules:
            name = own.group(1)
        if name is None and not STANDARD.match(header):
            sys.exit(f"{file}: includes <{header}>, of a library that {sys.argv[0]} does not know")
        if name is not None and name != module:
            used.setdefault(name, file)
    return used


def linked_by(target, text):
    """What a CMakeLists.txt links to a target; pybind11_add_module links its own."""
    words = " ".join(re.findall(rf"target_link_libraries\({target} ([^)]*)\)", text)).split()
    linked = {word.removeprefix("tunemix_") for word in words if word not in ("PUBLIC", "PRIVATE", "tunemix_flags")}
    return linked | ({"pybind11"} if f"pybind11_add_module({target} " in text else set())


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
    for name, (target, folder) in OTHERS.items():
        sources = [f for f in sorted((root / folder).rglob("*")) if f.suffix in (".h", ".cc")]
        own = {f.name for f in sources}
        used = used_by(name, {**declared, **OTHERS}, sources, own)
        linked = linked_by(target, (root / name / "CMakeLists.txt").read_text())
        errors += [f"{name} includes {u} ({used[u].relative_to(root)}) and does not link it" for u in sorted(set(used) - linked)]
        errors += [f"{name} links {u} and does not include it" for u in sorted(linked - set(used))]
    for error in errors:
        print(error, file=sys.stderr)
    if errors:
        sys.exit(1)
    print(f"modules: {len(declared) + len(OTHERS)} link exactly what they include")


main()
