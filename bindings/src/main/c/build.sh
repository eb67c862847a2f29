#!/bin/sh
# Builds our own C into FOLDER/linux-<machine>: libgatun-guard.so and libgatun-copy.so, for this machine and, where there is
# a cross compiler (CC_AARCH64, default aarch64-linux-gnu-gcc), for aarch64. The Maven build calls it.
#
#   bindings/src/main/c/build.sh FOLDER
#
# Without a working C compiler (CC, default cc) it says so and succeeds: Gatun then copies shared memory instead.
set -eu

sources=$(cd "$(dirname "$0")" && pwd)

# works COMPILER: whether it is there with the headers that it needs
works() {
    echo '#include <signal.h>
int main(void) { return 0; }' | "$1" -x c -fsyntax-only - 2>/dev/null
}

# build COMPILER FOLDER LIBRARY SOURCE: unless it is newer than its source
build() {
    library=$2/libgatun-$3.so
    source=$sources/$4
    if [ "$library" -nt "$source" ]; then
        return
    fi
    mkdir -p "$2"
    "$1" -std=c11 -O2 -g0 -fPIC -fvisibility=hidden -Wall -Wextra -shared -o "$library.part" "$source"
    mv "$library.part" "$library"
}

# build_all COMPILER FOLDER
build_all() {
    build "$1" "$2" guard fault_guard.c
    build "$1" "$2" copy streaming_copy.c
}

machine=$(uname -m)
compiler=${CC:-cc}
if works "$compiler"; then
    build_all "$compiler" "$1/linux-$machine"
else
    rm -f "$1/linux-$machine"/libgatun-*.so
    echo "NOTE: no working C compiler ('$compiler'): the fault guard is not built, and regions of POSIX shared memory"
    echo "NOTE: will be copied instead of used in place. Install gcc and libc6-dev, or name a compiler in CC, to have it."
fi
cross=${CC_AARCH64:-aarch64-linux-gnu-gcc}
if [ "$machine" != aarch64 ] && works "$cross"; then
    build_all "$cross" "$1/linux-aarch64"
fi
