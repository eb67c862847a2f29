#!/bin/sh
# Builds the fault guard into FOLDER/linux-<machine>/libgatun-guard.so. The Maven build calls it.
#
#   native-headers/guard/build.sh FOLDER
#
# Without a working C compiler (CC, default cc) it says so and succeeds: Gatun then copies shared memory instead.
set -eu

source=$(cd "$(dirname "$0")" && pwd)/fault_guard.c
folder=$1/linux-$(uname -m)
library=$folder/libgatun-guard.so
compiler=${CC:-cc}

if [ "$library" -nt "$source" ]; then
    exit 0
fi
rm -f "$library"
if ! echo '#include <signal.h>
int main(void) { return 0; }' | "$compiler" -x c -fsyntax-only - 2>/dev/null; then
    echo "NOTE: no working C compiler ('$compiler'): the fault guard is not built, and regions of POSIX shared memory"
    echo "NOTE: will be copied instead of used in place. Install gcc and libc6-dev, or name a compiler in CC, to have it."
    exit 0
fi
mkdir -p "$folder"
"$compiler" -std=c11 -O2 -g0 -fPIC -fvisibility=hidden -Wall -Wextra -shared -o "$library.part" "$source"
mv "$library.part" "$library"
