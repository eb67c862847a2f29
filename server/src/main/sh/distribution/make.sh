#!/bin/sh
# Makes the distribution: make.sh PROJECT LIB VERSION FOLDER [MACHINE [JDK]], of the jars in LIB, as FOLDER/gatun-VERSION-linux-MACHINE and a
# .tar.gz beside it, and on a Debian the package and the container image. It runs where there is no Java, compiler, Maven or git: a Java runtime
# comes along where this JDK can make one, native libraries lie there unpacked, and an AOT cache is made by a short run of the distribution itself.
#
# For another MACHINE than this one, as "uname -m" names it, a Java runtime comes along where JDK is given, one for that machine, of this JDK's
# version; there is no AOT cache and no image, which have to be made where they run. Where our own C was not built for it nothing is made.
#
# GATUN_COMPRESSION is the level of compression, from 1 to 9.
set -eu
project=$1
jars=$2
version=$3
folder=$4
here=$(uname -m)
machine=${5:-$here}
target=${6:-}
name=gatun-$version-linux-$machine
java=$("$project/gatun" --print-java)
jdk=$(dirname "$(dirname "$java")")
made=$folder/$name
case $machine in
    x86_64 | aarch64) ;;
    *)
        echo "no engine has a library for $machine" >&2
        exit 1
        ;;
esac
if [ $# -ge 5 ] && [ "$machine" = "$here" ]; then
    exit 0 # made already
fi
natives=gatun/bindings/native/linux-$machine
if [ "$machine" != "$here" ] && ! "$jdk/bin/jar" tf "$jars"/gatun-bindings-*.jar | grep -q "^$natives/.*\.so$"; then
    echo "no distribution for $machine is made, since our own C was not built for it; Debian's gcc-$machine-linux-gnu does that" >&2
    exit 0
fi

rm -rf "$made" "$made.tar.gz"
mkdir -p "$made/bin" "$made/lib" "$made/models"
cp "$jars"/*.jar "$made/lib"
cp "$project/server/src/main/sh/distribution/gatun" "$made/bin"
ln -s gatun "$made/bin/tritonserver"
ln -s gatun "$made/bin/tensorflow_model_server"
cp "$project/server/src/main/sh/launch.sh" "$project/mvnw" "$made/lib"
mkdir "$made/lib/install"
for facts in "$project"/backends/*/src/main/install/*.properties; do
    library=$(basename "$facts" .properties)
    cp "$facts" "$made/lib/install"
    sed -n "s:.*<$library.version>\(.*\)</$library.version>.*:\1:p" "$project/pom.xml" >"$made/lib/install/$library.version"
done
cp "$project/LICENSE" "$project/CHANGELOG.md" "$project/server/src/main/sh/distribution/README.md" "$made"
cp "$project/server/src/main/resources/gatun/server/gatun.jfc" "$made/lib"
cp -R "$project/examples/models/." "$made/models"

# An engine's jar has libraries for four systems, and classes that nobody calls.
scratch=$(mktemp -d "$folder/unpacked.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
sh "$project/server/src/main/sh/unpack-libraries.sh" "$project/gatun" "$made/lib" "$made/native" "$machine"
for facts in "$project"/backends/*/src/main/install/*.bundled; do
    rm "$made/lib/$(sed -n 's/^jar=//p' "$facts")"-*.jar
done

# Made from the flags that there are, before a runtime lies there that may be another machine's. Names of files are those under which
# shells and man look for them.
share=$made/share
mkdir -p "$share/man/man1" "$share/bash-completion/completions" "$share/zsh/site-functions" "$share/fish/vendor_completions.d"
JAVA_HOME=$jdk "$made/bin/gatun" man >"$share/man/man1/gatun.1"
JAVA_HOME=$jdk "$made/bin/gatun" completion bash >"$share/bash-completion/completions/gatun"
JAVA_HOME=$jdk "$made/bin/gatun" completion zsh >"$share/zsh/site-functions/_gatun"
JAVA_HOME=$jdk "$made/bin/gatun" completion fish >"$share/fish/vendor_completions.d/gatun.fish"

# What the jars use of Java, and what they find by name: elliptic curves for TLS. Jackson and others do without the two that are left out.
if [ "$machine" = "$here" ] || [ -n "$target" ]; then
    feature=$("$project/gatun" --print-feature)
    modules=$("$jdk/bin/jdeps" --ignore-missing-deps --multi-release "$feature" --module-path "$made/lib" --add-modules ALL-MODULE-PATH \
        -summary "$made"/lib/*.jar | sed -n 's/.* -> \(java\.[a-z.]*\|jdk\.[a-z.]*\)$/\1/p' | sort -u | grep -v -x -e java.compiler -e java.desktop |
        tr '\n' ',')
    set -- --add-modules "${modules}jdk.crypto.ec,jdk.management" --no-man-pages --no-header-files --compress=zip-6 --output "$made/runtime"
    if [ -z "$target" ]; then
        set -- --strip-debug "$@"
    else
        # Some JDKs' symbols for debuggers are ten times as large as what runs.
        set -- --strip-java-debug-attributes --exclude-files='**.debuginfo' --module-path "$target/jmods" "$@"
    fi
    if ! "$jdk/bin/jlink" "$@" 2>"$scratch/jlink"; then
        echo "no Java runtime comes along, since this JDK cannot make one; the launcher will look for one: $(cat "$scratch/jlink")" >&2
    fi
fi

# The cache is for files of these times, which an archive keeps.
find "$made" -exec touch -h -d @1767225600 {} +
if [ "$machine" = "$here" ]; then
    sh "$project/server/src/main/sh/train-aot-cache.sh" "$made/bin/gatun" "$made/models" "$made/lib/gatun.aot"
fi
find "$made" -type d -exec touch -d @1767225600 {} +
(cd "$folder" && tar --sort=name --owner=0 --group=0 --numeric-owner -cf - "$name" | gzip -n "-${GATUN_COMPRESSION:-6}" >"$name.tar.gz")
if command -v dpkg-deb >/dev/null; then
    sh "$project/server/src/main/sh/distribution/deb.sh" "$project" "$made" "$version" "$folder" "$machine"
fi
if [ "$machine" = "$here" ] && command -v apt-get >/dev/null && [ -d "$made/runtime" ]; then
    sh "$project/server/src/main/sh/distribution/image.sh" "$made" "$version" "$folder"
fi
