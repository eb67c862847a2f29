#!/bin/sh
# Unpacks the native libraries in the jars of LIB into FOLDER, which a launcher then names: unpack-libraries.sh LAUNCHER LIB FOLDER [MACHINE].
# Those for MACHINE, as "uname -m" names it, else for this one. Without the folder, each start compares the copy in the user's cache with the
# jar first, which takes a tenth of a start.
set -eu
launcher=$1
lib=$2
folder=$3
machine=${4:-$(uname -m)}
tools=$(dirname "$(GATUN_BUILD=never "$launcher" --print-java)")
case $machine in
    x86_64 | aarch64) ;;
    *) exit 0 ;; # no engine has a library for it
esac
rm -rf "$folder"
mkdir -p "$folder/unpacked"
for facts in "$(dirname "$0")"/../../../../backends/*/src/main/install/*.bundled; do
    fact() { sed -n "s/^$1=//p" "$facts"; }
    for jar in "$lib/$(fact jar)"-*.jar; do
        (cd "$folder/unpacked" && "$tools/jar" xf "$jar" "$(fact "library.$machine")" "$(fact notices)")
        mv "$folder/unpacked/$(fact notices)" "$folder/$(fact jar)-notices.txt"
    done
done
for jar in "$lib"/gatun-bindings-*.jar; do
    (cd "$folder/unpacked" && "$tools/jar" xf "$jar" "gatun/bindings/native/linux-$machine") # empty where our C was not built
done
find "$folder/unpacked" -name '*.so' -exec mv {} "$folder/" \;
rm -rf "$folder/unpacked"
