#!/usr/bin/env bash
# Runs each `./zenith study …` line of the README that reads data of the tree: readme_commands.sh <tree> <zenith-study>
set -euo pipefail
cd "$1"
program=$2
ran=0
while read -r -a words; do
  echo "running: ${words[*]}"
  output=$("$program" "${words[@]:2}")
  echo "$output"
  # the flight that left 1301 minutes late leads the sample
  [[ $output == *N384HA* ]]
  ran=$((ran + 1))
done < <(grep '^\./zenith study top-k --input tests/data/' README.md)
((ran > 0))
