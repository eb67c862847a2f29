# Read by the launchers of the source tree and of a distribution: finds Java, installs libraries, runs the program.
#
#   GATUN_JAVA_OPTS   more flags for the JVM; they win over those below
#   wrapper           Maven, or what downloads it
#   version_of NAME   prints the version of a library that can be installed

jdk=
least=22 # java.lang.foreign is final from there on

say() { printf 'gatun: %s\n' "$*" >&2; }
fail() { say "$@"; exit 1; }

# The feature version (22, 25, ...) of the Java installation in $1; 0 when there is none.
feature() {
    [ -x "$1/bin/java" ] || { echo 0; return; }
    version=
    [ -r "$1/release" ] && version=$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$1/release")
    [ -n "$version" ] || version=$("$1/bin/java" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p' | head -n 1)
    echo "${version:-0}"
}

# The folder of the java that the shell would run.
java_on_path() {
    java=$(command -v java) || return 0
    java=$(readlink -f "$java" 2>/dev/null) || return 0
    dirname "$(dirname "$java")"
}

# Looks at the installation in $1: takes note of it in $seen and answers whether it is new enough and has bin/$2.
fits() {
    version=$(feature "$1")
    [ "$version" -gt 0 ] || return 1
    seen="$seen
  Java $version in $1"
    [ "$version" -ge "$least" ] && [ -x "$1/bin/$2" ]
}

# Finds in $jdk an installation that has the program bin/$1: JAVA_HOME's, else that of PATH, else the newest in the
# usual folders.
find_jdk() {
    jdk=
    best=0
    seen=
    for candidate in "${JAVA_HOME:-}" "$(java_on_path)"; do
        if [ -n "$candidate" ] && fits "$candidate" "$1"; then
            jdk=$candidate
            return 0
        fi
    done
    for candidate in /usr/lib/jvm/* /opt/* "${HOME:-}"/.sdkman/candidates/java/* "${HOME:-}"/.jdks/*; do
        if fits "$candidate" "$1" && [ "$version" -gt "$best" ]; then
            jdk=$candidate
            best=$version
        fi
    done
    [ -n "$jdk" ]
}

no_jdk() {
    say "a JDK of version $least or newer is needed ($1)."
    if [ -n "$seen" ]; then
        say "Found only:$seen"
    else
        say "Found no Java at all."
    fi
    fail "Install one, for example 'apt-get install openjdk-25-jdk' or from https://adoptium.net, or point JAVA_HOME to it."
}

# Downloads the library $1 by Maven into the folder where the server looks for it. version_of NAME prints the version to take.
install_library() {
    machine=$(uname -m)
    case $1 in
        tensorflow)
            title=TensorFlow
            option=tensorflow,library
            artifact=org.tensorflow:tensorflow-core-native:$(version_of tensorflow):jar:linux-x86_64
            [ "$machine" != aarch64 ] || artifact=${artifact%x86_64}arm64
            platforms='x86_64 aarch64'
            inside='**/libtensorflow*,**/libomp*'
            file=libtensorflow_cc.so.2
            size='some 160 MB, which become several times that'
            ;;
        pytorch)
            title=PyTorch
            option=torch_aoti,library
            artifact=ai.djl.pytorch:pytorch-native-cpu:$(version_of pytorch):jar:linux-$machine
            platforms='x86_64 aarch64'
            inside="pytorch/cpu/linux-$machine/*"
            file=libtorch_cpu.so
            size='112 MB, which become 450'
            ;;
        xgboost)
            title=XGBoost
            option=fil,xgboost-library
            artifact=ml.dmlc:xgboost4j_2.12:$(version_of xgboost):jar
            platforms='x86_64 aarch64'
            inside="lib/linux/$machine/libxgboost4j.so"
            file=libxgboost4j.so
            size='18 MB'
            ;;
        lightgbm)
            title=LightGBM
            option=fil,lightgbm-library
            artifact=com.microsoft.ml.lightgbm:lightgbmlib:$(version_of lightgbm):jar
            platforms=x86_64
            inside='com/microsoft/ml/lightgbm/linux/x86_64/lib_lightgbm.so'
            file=lib_lightgbm.so
            size='6 MB'
            ;;
        *) fail "what to install? Known are: gatun install tensorflow, pytorch, xgboost or lightgbm" ;;
    esac
    case " $platforms " in
        *" $machine "*) here=$(uname -s) ;;
        *) here= ;;
    esac
    [ "$here" = Linux ] \
        || fail "there is a library of $title for Linux on $platforms only; name your own with --backend-config=$option=PATH"
    [ -n "$jdk" ] || find_jdk java || no_jdk "to run Maven"
    cache=${GATUN_CACHE:-}
    if [ -z "$cache" ]; then
        case ${XDG_CACHE_HOME:-} in
            /*) cache=$XDG_CACHE_HOME/gatun ;;
            *) cache=$HOME/.cache/gatun ;;
        esac
    fi
    mkdir -p "$cache"
    scratch=$(mktemp -d "$cache/$1.XXXXXX") # for this user alone, and on the same disk
    trap 'rm -rf "$scratch"' EXIT
    trap 'exit 130' INT TERM
    version=$(version_of "$1")
    say "downloading $title $version, $size"
    (cd "$scratch" && JAVA_HOME=$jdk "$wrapper" -B -q org.apache.maven.plugins:maven-dependency-plugin:3.8.1:unpack \
        -Dartifact="$artifact" -Dmdep.unpack.includes="$inside" -DoutputDirectory="$scratch/jar") \
        || fail "Maven could not download $title; what it said stands above"
    mkdir "$scratch/lib"
    find "$scratch/jar" -name '*.so*' -type f -exec mv {} "$scratch/lib/" \;
    [ -f "$scratch/lib/$file" ] || fail "the archive of $title $version has no $file"
    rm -rf "${cache:?}/$1"
    mv "$scratch/lib" "$cache/$1"
    say "installed $title $version in $cache/$1"
}

# The largest heap in MiB: less than usual where a container's limit is less than four times that, since tensors, models and
# threads lie within that limit too.
heap() {
    limit=max
    if [ -r /sys/fs/cgroup/memory.max ]; then
        read -r limit </sys/fs/cgroup/memory.max
    elif [ -r /sys/fs/cgroup/memory/memory.limit_in_bytes ]; then
        read -r limit </sys/fs/cgroup/memory/memory.limit_in_bytes
    fi
    heap=512
    if [ "$limit" != max ] && [ $((limit >> 22)) -lt $heap ]; then
        heap=$((limit >> 22))
    fi
    [ "$heap" -ge 32 ] || heap=32
    echo $heap
}

# Replaces this process by the program: run CACHE JVM-FLAGS... with the class or module to run, and its arguments, last.
#
# Tensors lie outside the heap, in the buffer pool, which has a limit of its own: a small heap is enough, and the JVM's
# limit on memory outside the heap must not come first. A JVM that is out of heap ends, so that it can be started anew.
#
# Requests leave little in the heap, so the space for new objects need not grow: some 32 MiB are collected in a millisecond. Methods are compiled
# when they were called four times as often as usual: half of a start was the compiler's work for what runs at a start alone.
run() {
    cache=$1
    shift
    # shellcheck disable=SC2086 # flags are separated by blanks
    set -- ${GATUN_JAVA_OPTS:-} "$@"
    version=$(feature "$jdk")
    if [ "$version" -ge 23 ]; then
        set -- --sun-misc-unsafe-memory-access=allow "$@"
    fi
    # Made by the build, and passed over in silence by a JVM for which it was not made.
    if [ -f "$cache" ] && [ "$version" -ge 25 ]; then
        set -- -XX:AOTCache="$cache" -Xlog:aot=off -Xlog:cds=off "$@"
    fi
    largest=$(heap)
    case ${GATUN_JAVA_OPTS:-} in
        *-Xm[nx]* | *NewSize=*) ;; # a space that is larger than the heap would be complained of
        *) set -- "-Xmn$((largest < 128 ? largest / 4 : 32))m" "$@" ;;
    esac
    exec "$jdk/bin/java" -XX:+UseParallelGC -Xms$((largest < 64 ? largest : 64))m "-Xmx${largest}m" \
        -XX:MaxDirectMemorySize=1t -XX:+ExitOnOutOfMemoryError -XX:CompileThresholdScaling=4 -XX:-UsePerfData "$@"
}
