#!/usr/bin/env bash
# Renews the lock files in this folder: run.txt and dev.txt from pyproject.toml, run.in and
# dev.in; package-lock.json from package.json. Pass --upgrade to take newer releases.
set -euo pipefail
cd "$(dirname "$0")"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pip-tools

# The files name packages and digests, never the host that they came from.
compile=("$work/venv/bin/pip-compile" --generate-hashes --no-annotate --no-header
  --no-emit-index-url --no-emit-trusted-host --no-emit-find-links --allow-unsafe
  --strip-extras --quiet "$@")
"${compile[@]}" --output-file run.txt ../../pyproject.toml run.in
"${compile[@]}" --output-file dev.txt dev.in

npm install --package-lock-only --ignore-scripts --no-audit --no-fund
sed -i '/^ *"resolved": /d' package-lock.json
