#!/bin/sh
# compare.sh DIGEST: runs the program with every instruction set that it and the machine have; all must print the same.
set -eu
sets=$("$1" sets)
first=
for set in $sets; do
  out=$(TUNEMIX_INSTRUCTIONS=$set "$1")
  echo "$set:"
  echo "$out"
  [ -n "$first" ] || first=$out
  [ "$out" = "$first" ] || { echo "$set computes something else"; exit 1; }
done
# A set that is not there is refused in one sentence.
if message=$(TUNEMIX_INSTRUCTIONS=mmx "$1" 2>&1); then exit 1; fi
echo "$message" | grep -q "TUNEMIX_INSTRUCTIONS is 'mmx'; this program on this machine has: scalar"
