#!/bin/sh
# Builds the stand-in for CUDA's driver: FOLDER/libcuda.so.1. The Maven build calls it for the tests.
#
#   bindings/src/test/c/cuda-standin/build.sh FOLDER
#
# With CUDA's headers (CUDA_HOME, default /usr/local/cuda) it is declared by them, else by cuda_driver.h. Without a
# working C compiler (CC, default cc) it says so and succeeds: the tests that need it are then skipped.
set -eu

sources=$(cd "$(dirname "$0")" && pwd)
kernels=$sources/../../../../../examples/kernels
library=$1/libcuda.so.1
compiler=${CC:-cc}
headers=${CUDA_HOME:-/usr/local/cuda}/include

if ! echo '#include <pthread.h>
int main(void) { return 0; }' | "$compiler" -x c -fsyntax-only - 2>/dev/null; then
    rm -f "$library"
    echo "NOTE: no working C compiler ('$compiler'): the stand-in for CUDA's driver is not built, and the tests that need"
    echo "NOTE: it are skipped. Install gcc and libc6-dev, or name a compiler in CC, to have it."
    exit 0
fi

if [ -f "$library" ] && [ -z "$(find "$sources" "$kernels" -name '*.[ch]' -newer "$library")" ] &&
    [ "$library" -nt "$sources/build.sh" ]; then
    exit 0
fi

mkdir -p "$1"
set -- -std=c11 -D_GNU_SOURCE -O2 -g -fPIC -fvisibility=hidden -pthread -Wall -Wextra
if grep -q '^#define CUDA_VERSION 13000' "$headers/cuda.h" 2>/dev/null; then
    set -- "$@" -DGATUN_STANDIN_CUDA_H -I"$headers"
fi
"$compiler" "$@" -shared -Wl,-soname,libcuda.so.1 -o "$library.part" "$sources"/*.c -ldl
mv "$library.part" "$library"
