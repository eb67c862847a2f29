# Read by the launchers of the source tree and of a distribution: finds Java, installs libraries, runs the program.
#
#   GATUN_JAVA_OPTS   more flags for the JVM; they win over those below
#   wrapper           Maven, or what downloads it
#   version_of NAME   prints the version of a library that can be installed
#   installs          prints the files with the facts of those libraries, NAME.properties, each on a line

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

# The value of $1 in the facts of the library to install.
fact() { sed -n "s/^$1=//p" "$facts" | sed "s/VERSION/${library_version:-}/; s/MACHINE/${machine:-}/g"; }

# The names of all libraries that can be installed, as a text.
known_libraries() {
    installs | while IFS= read -r facts; do echo "$(fact order) ${facts##*/}"; done | sort -n |
        sed 's/^[0-9]* //; s/\.properties$//' | tr '\n' ',' | sed 's/,$//; s/,/, /g; s/\(.*\), /\1 or /'
}

# Downloads the library $1 by Maven into the folder where the server looks for it. version_of NAME prints the version to take.
install_library() {
    facts=$(installs | while IFS= read -r file; do [ "${file##*/}" != "$1.properties" ] || printf '%s' "$file"; done)
    [ -n "$facts" ] || fail "what to install? Known are: gatun install $(known_libraries)"
    machine=$(uname -m)
    library_version=$(version_of "$1")
    title=$(fact title)
    option=$(fact option)
    artifact=$(fact "artifact.$machine")
    [ -n "$artifact" ] || artifact=$(fact artifact)
    platforms=$(fact platforms)
    inside=$(fact inside)
    file=$(fact file)
    size=$(fact size)
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
    say "downloading $title $library_version, $size"
    (cd "$scratch" && JAVA_HOME=$jdk "$wrapper" -B -q org.apache.maven.plugins:maven-dependency-plugin:3.8.1:unpack \
        -Dartifact="$artifact" -Dmdep.unpack.includes="$inside" -DoutputDirectory="$scratch/jar") \
        || fail "Maven could not download $title; what it said stands above"
    mkdir "$scratch/lib"
    find "$scratch/jar" -name '*.so*' -type f -exec mv {} "$scratch/lib/" \;
    [ -f "$scratch/lib/$file" ] || fail "the archive of $title $library_version has no $file"
    rm -rf "${cache:?}/$1"
    mv "$scratch/lib" "$cache/$1"
    say "installed $title $library_version in $cache/$1"
}

# Finds in $profile what the arguments of a server ask for: the last --profile, else GATUN_PROFILE, else balanced. The program
# refuses a name that there is not, and one that comes from where nobody looks here, such as a file.
find_profile() {
    profile=${GATUN_PROFILE:-balanced}
    before=
    for argument; do
        case $before$argument in
            --profile=*) profile=${argument#--profile=} ;;
        esac
        before=
        [ "$argument" != --profile ] || before=$argument=
    done
    [ "$profile" = small ] || profile=balanced
}

# Finds in $memory the limit of the container in MiB, a large number where there is none.
find_memory() {
    memory=max
    if [ -r /sys/fs/cgroup/memory.max ]; then
        read -r memory </sys/fs/cgroup/memory.max
    elif [ -r /sys/fs/cgroup/memory/memory.limit_in_bytes ]; then
        read -r memory </sys/fs/cgroup/memory/memory.limit_in_bytes
    fi
    if [ "$memory" = max ]; then
        memory=$((1 << 30))
    else
        memory=$((memory >> 20))
    fi
}

# Whether the kernel gives huge pages to those who ask; a JVM that asks in vain complains.
has_huge_pages() {
    pages=
    [ ! -r /sys/kernel/mm/transparent_hugepage/enabled ] || read -r pages </sys/kernel/mm/transparent_hugepage/enabled
    case $pages in
        *'[madvise]'* | *'[always]'*) ;;
        *) return 1 ;;
    esac
}

# Finds in $flags the flags of the JVM for $profile and $memory; docs/decisions/0095-profiles-of-the-jvm.md has the reasons.
find_flags() {
    # Tensors lie outside the heap: a small one is enough, and models and threads need most of a small container.
    heap=$((memory < 2048 ? memory / 4 : 512))
    [ "$heap" -ge 32 ] || heap=32
    flags="-XX:+UseParallelGC -Xms$((heap < 64 ? heap : 64))m -Xmx${heap}m"
    if [ "$profile" = small ]; then
        # Half of a start is the compiler's work for what runs at a start alone.
        flags="$flags -XX:CompileThresholdScaling=4"
        # The space for new objects is touched as a whole before anything is collected. By itself it is up to a third of the heap, so
        # that collections are rare. One that is larger than the user's heap would be complained of.
        case ${GATUN_JAVA_OPTS:-} in
            *-Xm[nx]* | *NewSize=*) ;;
            *) flags="$flags -Xmn8m" ;;
        esac
    elif [ "$memory" -ge 1024 ] && has_huge_pages; then
        # The processor finds the pages of Java's code and objects faster; in a small container there is nothing to round them up to.
        flags="$flags -XX:+UseTransparentHugePages"
    fi
    if [ "$profile" = balanced ]; then
        # Methods ask less often whether they should be compiled, so that a start compiles a third less of them. Those that a busy
        # server calls reach the usual threshold all the same, a few milliseconds later.
        flags="$flags -XX:Tier0InvokeNotifyFreqLog=10 -XX:Tier0BackedgeNotifyFreqLog=13 -XX:Tier2InvokeNotifyFreqLog=13"
        flags="$flags -XX:Tier2BackedgeNotifyFreqLog=16 -XX:Tier3InvokeNotifyFreqLog=12 -XX:Tier3BackedgeNotifyFreqLog=15"
    fi
    # The buffer pool has a limit of its own, and the JVM's must not come first.
    flags="$flags -XX:MaxDirectMemorySize=1t"
    # A JVM that is out of heap ends, so that it can be started anew.
    flags="$flags -XX:+ExitOnOutOfMemoryError"
    # Nobody reads the JVM's counters in /tmp.
    flags="$flags -XX:-UsePerfData"
    # Reflection is for the fields of configurations alone: for each kind of method the JVM makes classes otherwise, at each start.
    flags="$flags -Djdk.reflect.useNativeAccessorOnly=true"
}

# Replaces this process by the program: run CACHE JVM-FLAGS... with the class or module to run, and its arguments, last.
run() {
    cache=$1
    shift
    find_profile "$@"
    find_memory
    find_flags
    # shellcheck disable=SC2086 # flags are separated by blanks
    set -- ${GATUN_JAVA_OPTS:-} "-Dgatun.profile=$profile" "$@"
    version=$(feature "$jdk")
    if [ "$version" -ge 23 ]; then
        set -- --sun-misc-unsafe-memory-access=allow "$@"
    fi
    # Made by the build, and passed over in silence by a JVM for which it was not made.
    if [ -f "$cache" ] && [ "$version" -ge 25 ]; then
        set -- -XX:AOTCache="$cache" -Xlog:aot=off -Xlog:cds=off "$@"
    fi
    # shellcheck disable=SC2086 # flags are separated by blanks
    exec "$jdk/bin/java" $flags "$@"
}
