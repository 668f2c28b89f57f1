#!/usr/bin/env bash
# Every relative link of the README leads to a file or folder: readme_links.sh <tree>
set -euo pipefail
cd "$1"
status=0
while read -r target; do
  case $target in
    http*) continue ;;
  esac
  if [[ ! -e ${target%%#*} ]]; then
    echo "README.md links to $target, which is not there"
    status=1
  fi
done < <(grep -o '](\([^)]*\))' README.md | sed 's/^](//; s/)$//')
exit $status
