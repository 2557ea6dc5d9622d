#!/usr/bin/env bash
# Runs every program of this bundle, or those named, as in `run.sh test-gpu example-saxpy`.
#
# Needs a driver, and Python 3 to unpack the libraries. With OUT set, each program's output is also
# written to $OUT/NAME.log. SECONDS_EACH (default 300) is how long one may take.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

if [ -z "${CUDA_PROGRAM_TOOLKIT:-}" ]; then
    export CUDA_PROGRAM_TOOLKIT=$here/cuda-13.5
    if [ ! -e "$here/cuda-13.5" ]; then
        rm -rf "$here/unpacking"
        python3 -c '
import lzma, sys, tarfile
with lzma.open(sys.argv[1]) as stream, tarfile.open(fileobj=stream, mode="r|") as tar:
    tar.extractall(sys.argv[2])
' "$here/toolkit.tar.xz" "$here/unpacking" && mv "$here/unpacking" "$here/cuda-13.5" || exit 2
    fi
fi

if [ $# -gt 0 ]; then names=("$@"); else names=($(cd "$here/bin" && ls)); fi
if [ -n "${OUT:-}" ]; then mkdir -p "$OUT" || exit 2; fi

summary=()
failed=0
for name in "${names[@]}"; do
    printf '\n==== %s\n' "$name"
    # Modes may be lost on the way here.
    chmod +x "$here/bin/$name" 2>/dev/null
    log=/dev/null
    if [ -n "${OUT:-}" ]; then log=$OUT/$name.log; fi
    start=$SECONDS
    timeout "${SECONDS_EACH:-300}" "$here/bin/$name" 2>&1 | tee "$log"
    status=${PIPESTATUS[0]}
    if [ "$status" -eq 0 ]; then
        summary+=("PASS $name ($((SECONDS - start)) s)")
    else
        summary+=("FAIL $name (exit status $status, $((SECONDS - start)) s)")
        failed=1
    fi
done

printf '\n==== summary\n'
printf '%s\n' "${summary[@]}"
exit "$failed"
