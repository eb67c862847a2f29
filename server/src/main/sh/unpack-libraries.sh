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
    x86_64) platform=linux-x64 ;;
    aarch64) platform=linux-aarch64 ;;
    *) exit 0 ;; # no engine has a library for it
esac
rm -rf "$folder"
mkdir -p "$folder/unpacked"
for jar in "$lib"/onnxruntime-*.jar; do
    (cd "$folder/unpacked" && "$tools/jar" xf "$jar" "ai/onnxruntime/native/$platform/libonnxruntime.so" ThirdPartyNotices.txt)
done
for jar in "$lib"/gatun-bindings-*.jar; do
    (cd "$folder/unpacked" && "$tools/jar" xf "$jar" "gatun/bindings/native/linux-$machine") # empty where our C was not built
done
mv "$folder/unpacked/ThirdPartyNotices.txt" "$folder/onnxruntime-notices.txt"
find "$folder/unpacked" -name '*.so' -exec mv {} "$folder/" \;
rm -rf "$folder/unpacked"
