#!/bin/sh
# Translates the kernels to PTX, which is committed: nobody needs CUDA's compiler to use or to test them.
#
#   examples/kernels/build.sh            # writes the PTX
#   examples/kernels/build.sh --check    # writes nothing, shows the difference and fails when there is one
#
# It needs CUDA 13.0 (CUDA_HOME, default /usr/local/cuda): another version's PTX differs in more than its head.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
bin=${CUDA_HOME:-/usr/local/cuda}/bin
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The oldest GPU that CUDA 13 knows, and an old version of PTX, so that many drivers take it. nvcc writes the newest version
# whatever is in it: ptxas says whether the old one has all that is used.
architecture=75
version=7.5

# ptx SOURCE TARGET
ptx() {
    (cd "$here" && "$bin/nvcc" -ptx -O3 -arch="compute_$architecture" -o "$scratch/raw.ptx" "$1")
    sed "s/^\.version .*/.version $version/" "$scratch/raw.ptx" >"$scratch/new.ptx"
    "$bin/ptxas" --gpu-name="sm_$architecture" -o /dev/null "$scratch/new.ptx"
    if [ "$check" = yes ]; then
        diff -u "$here/$2" "$scratch/new.ptx"
    else
        mkdir -p "$(dirname "$here/$2")"
        mv "$scratch/new.ptx" "$here/$2"
    fi
}

case ${1:-} in
--check) check=yes ;;
'') check=no ;;
*)
    echo "usage: $0 [--check]" >&2
    exit 2
    ;;
esac

for model in simple_gpu normalise_transpose mlp_gpu; do
    ptx $model.cu ../models-gpu/$model/1/model.ptx
done
ptx probe.cu probe.ptx
