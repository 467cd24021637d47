#!/usr/bin/env bash
# Installs what is needed, builds TuneMix and runs the quick-start experiment on built-in synthetic data.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install-dependencies.sh
scripts/build.sh build -DTUNEMIX_UNITY=ON -DTUNEMIX_TESTS=OFF -DTUNEMIX_BENCHMARKS=OFF --target tunemix
build/bin/tunemix run configs/quickstart.yaml
echo "  a page to look at: $PWD/runs/quickstart/report.html"
