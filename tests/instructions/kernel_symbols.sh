#!/bin/sh
# kernel_symbols.sh NM LIST: fails where an object file of the list defines a function that another file could call, or
# the linker could take for another file's, outside the namespaces of the instruction sets.
set -eu
status=0
while read -r object; do
  [ -n "$object" ] || continue
  # W: weak, T: global, i and u: of their own kind.
  found=$("$1" -C --defined-only "$object" | grep -E '^[0-9a-f]+ [WTiu] ' |
    grep -vE '::(scalar|sse2|avx2|avx512)::' || true)
  if [ -n "$found" ]; then
    echo "$object:"
    echo "$found"
    status=1
  fi
done < "$2"
[ -s "$2" ] || { echo "$2 is empty"; status=1; }
exit $status
