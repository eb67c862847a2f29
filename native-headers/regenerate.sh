#!/bin/sh
# Makes the generated classes of module `bindings` again from the headers and argument files in this folder.
#
#   native-headers/regenerate.sh [--check] [LIBRARY...]
#
# LIBRARY is a folder beside this script: posix, onnxruntime, cuda, cudart, nvml, tensorflow, xgboost, lightgbm, torch; all of them when none is named.
# --check writes nothing: it shows the difference to the committed classes and fails when there is one.
#
# Needs jextract 22 on libclang 14 (README.md says how to build it and why these versions). Environment:
#   JEXTRACT   the command            default: jextract, from the PATH
#   CUDA_HOME  where CUDA 13.0 lies   default: /usr/local/cuda
# and Python 3 for the function table of ONNX Runtime.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
generated=$here/../bindings/src/main/java
jextract=${JEXTRACT:-jextract}
cuda_home=${CUDA_HOME:-/usr/local/cuda}

fail() {
    echo "regenerate: $1" >&2
    exit 1
}

check=false
if [ "${1:-}" = --check ]; then
    check=true
    shift
fi
[ $# -gt 0 ] || set -- posix onnxruntime cuda cudart nvml tensorflow xgboost lightgbm torch

command -v "$jextract" >/dev/null || fail "no jextract: put it on the PATH or name it in JEXTRACT (see native-headers/README.md)"
version=$("$jextract" --version 2>&1)
case $version in
    *"jextract 22"*"clang version 14."*) ;;
    *) fail "jextract 22 on libclang 14 is needed, but $jextract says: $(echo "$version" | tr '\n' ';')" ;;
esac

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for library in "$@"; do
    [ -f "$here/$library/jextract.args" ] || fail "no library '$library': expected posix, onnxruntime, cuda, cudart, nvml, tensorflow, xgboost, lightgbm or torch"
    case $library in
        cuda | cudart)
            [ -f "$cuda_home/include/cuda.h" ] || fail "no $cuda_home/include/cuda.h: name CUDA's folder in CUDA_HOME"
            grep -q '#define CUDA_VERSION 13000' "$cuda_home/include/cuda.h" \
                || fail "the headers in $cuda_home are not CUDA 13.0's; other versions generate other classes"
            set -- -I "$cuda_home/include"
            ;;
        *) set -- ;;
    esac
    # Run inside the folder and with relative names, so that no path of this machine can reach the output.
    (cd "$here/$library" && "$jextract" "$@" @jextract.args --output "$scratch" "$library.h")

    package=gatun/bindings/$library
    if [ "$library" = onnxruntime ]; then
        python3 "$here/onnxruntime/table.py" "$scratch/$package/OrtApi.java"
    fi
    if $check; then
        diff -r "$generated/$package" "$scratch/$package" || fail "the classes of '$library' differ from what jextract makes"
        echo "regenerate: $library: no difference"
    else
        rm -rf "${generated:?}/$package"
        mkdir -p "$generated/$package"
        cp "$scratch/$package"/*.java "$generated/$package/"
        echo "regenerate: $library: $(cat "$generated/$package"/*.java | wc -l) lines in $(ls "$generated/$package" | wc -l) classes"
    fi
done
