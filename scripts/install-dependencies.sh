#!/usr/bin/env bash
# Installs what building TuneMix needs (Debian, Ubuntu); with --tests also what the tests need. Does nothing when all is there.
set -euo pipefail

build=(g++ cmake ninja-build ccache pkg-config help2man libeigen3-dev libnlopt-cxx-dev libnlopt-dev libyaml-cpp-dev libcli11-dev
  libfmt-dev nlohmann-json3-dev libfast-float-dev libxxhash-dev libzstd-dev zlib1g-dev libboost-dev libssl-dev)
tests=(libgtest-dev libgmock-dev librapidcheck-dev libbenchmark-dev clang clang-format clang-tidy libomp-14-dev xgboost liblinear-tools
  locales slurm-wlm munge procps parallel chromium python3 python3-xgboost python3-dev openssl curl pybind11-dev python3-numpy python3-scipy python3-pandas
  python3-sklearn python3-pytest)
packages=("${build[@]}")
[ "${1:-}" = "--tests" ] && packages+=("${tests[@]}")
# The report's charts are built from npm packages; any npm will do.
command -v npm >/dev/null || packages+=(npm)

missing=()
if command -v dpkg-query >/dev/null; then
  for package in "${packages[@]}"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && exit 0
fi
if ! command -v apt-get >/dev/null; then
  echo "This script knows apt only. Install these (Debian names) with your package manager:" >&2
  printf '  %s\n' "${packages[@]}" >&2
  exit 1
fi
sudo=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "Run as root or install sudo to install: ${missing[*]}" >&2; exit 1; }
  sudo=(sudo)
fi
echo "Installing: ${missing[*]}"
"${sudo[@]}" apt-get update -qq
DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
