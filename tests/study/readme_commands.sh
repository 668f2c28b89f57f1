#!/usr/bin/env bash
# Runs each `./zenith study …` line of the README that reads data of the tree, in the environment that ./zenith makes:
# readme_commands.sh <tree> <zenith-study>
set -euo pipefail
cd "$1"
program=$2
ran=0
while read -r -a words; do
  echo "running: ${words[*]}"
  [[ ${words[2]} == pack ]] && words+=(--time-limit 0.001)
  output=$(ZENITH_STUDY_OUTPUT=build/study "$program" "${words[@]:2}" </dev/null)
  echo "$output"
  case ${words[2]} in
    # the flight that left 1301 minutes late leads the sample
    top-k) [[ $output == *N384HA* ]] ;;
    threshold) [[ $output == *'the 20 best by'* ]] ;;
    skyline) [[ $output == *'rows are in the skyline'* ]] ;;
    pack) [[ $output == *dep_delay*'times smaller'* ]] ;;
  esac
  ran=$((ran + 1))
done < <(grep '^\./zenith study [a-z-]* --input tests/data/' README.md)
((ran == 4))
