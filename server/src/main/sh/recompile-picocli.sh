#!/bin/sh
# Compiles picocli again, from its own sources: recompile-picocli.sh LAUNCHER SOURCES JAR TIME. Its classes have the format of Java 5, which
# an AOT cache does not hold: each start would read, verify and link them anew, which takes a tenth of a second. The rest of JAR stays as it is.
# Where there are no SOURCES, as in a build with -Dserve, which downloads less, the jar stays as it is. TIME, as in 2026-01-01T00:00:00Z, is that of the entries, so that two builds make the same file.
set -eu
launcher=$1
sources=$2
jar=$3
time=$4
[ -d "$sources/picocli" ] || exit 0
tools=$(dirname "$(GATUN_BUILD=never "$launcher" --print-java)")
scratch=$(mktemp -d "$(dirname "$jar")/../picocli.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/jar" "$scratch/classes"
cp "$jar" "$scratch/original.jar"
(cd "$scratch/jar" && "$tools/jar" xf ../original.jar)
# One class file says which compiler was used: from 50 on, Java 6, the cache has it.
if [ "$(od -An -t u1 -j 7 -N 1 "$scratch/jar/picocli/CommandLine.class" | tr -d ' ')" -ge 50 ]; then
    exit 0
fi
"$tools/javac" --release 22 -nowarn -Xlint:none -encoding UTF-8 -d "$scratch/classes" "$sources"/picocli/*.java
rm -rf "$scratch/jar/picocli"
mv "$scratch/classes/picocli" "$scratch/jar"
mv "$scratch/jar/META-INF/MANIFEST.MF" "$scratch"
(cd "$scratch/jar" && "$tools/jar" --create --file ../new.jar --manifest ../MANIFEST.MF --date "$time" META-INF picocli)
mv "$scratch/new.jar" "$jar"
