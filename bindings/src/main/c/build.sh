#!/bin/sh
# Builds our own C into FOLDER/linux-<machine>: libgatun-guard.so and libgatun-copy.so. The Maven build calls it.
#
#   bindings/src/main/c/build.sh FOLDER
#
# Without a working C compiler (CC, default cc) it says so and succeeds: Gatun then copies shared memory instead.
set -eu

sources=$(cd "$(dirname "$0")" && pwd)
folder=$1/linux-$(uname -m)
compiler=${CC:-cc}

if ! echo '#include <signal.h>
int main(void) { return 0; }' | "$compiler" -x c -fsyntax-only - 2>/dev/null; then
    rm -f "$folder"/libgatun-*.so
    echo "NOTE: no working C compiler ('$compiler'): the fault guard is not built, and regions of POSIX shared memory"
    echo "NOTE: will be copied instead of used in place. Install gcc and libc6-dev, or name a compiler in CC, to have it."
    exit 0
fi

# build LIBRARY SOURCE: unless it is newer than its source
build() {
    library=$folder/libgatun-$1.so
    source=$sources/$2
    if [ "$library" -nt "$source" ]; then
        return
    fi
    mkdir -p "$folder"
    "$compiler" -std=c11 -O2 -g0 -fPIC -fvisibility=hidden -Wall -Wextra -shared -o "$library.part" "$source"
    mv "$library.part" "$library"
}

build guard fault_guard.c
build copy streaming_copy.c
