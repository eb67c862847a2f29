#!/bin/sh
# Makes a release of the commit that is checked out: packaging/release.sh VERSION HOME [MORE FLAGS OF MAVEN]. HOME is
# the project's address, which artifacts name. In target/release lie then
#
#   gatun-VERSION-maven.zip       what a repository such as Maven Central takes: artifacts, sources, documentation, lists of
#                                 parts (SBOM), and with -Psign their signatures
#   gatun-VERSION-linux-*.tar.gz  the distribution, with its Debian package and container image
#
# The tree is not touched: the version is set in a copy. The same commit, JDK and compilers make the same artifacts.
set -eu
[ $# -ge 2 ] || {
    sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
    exit 2
}
version=$1
home=$2
shift 2
project=$(CDPATH='' cd "$(dirname "$0")/.." && pwd -P)
made=$project/target/release
tree=$made/tree
rm -rf "$made"
mkdir -p "$made"
git clone -q --no-hardlinks "$project" "$tree"
cd "$tree"
old=$(sed -n 's:^  <version>\(.*\)</version>:\1:p' pom.xml | head -n 1)
git ls-files '*pom.xml' | while read -r pom; do
    sed -i "s:<version>$old</version>:<version>$version</version>:; s:<gatun.version>$old<:<gatun.version>$version<:" "$pom"
done
# javadoc reads classes that are newer than the Java of many a Maven.
java=$(./gatun --print-java)
JAVA_HOME=$(dirname "$(dirname "$java")")
export JAVA_HOME
mvn --batch-mode -Prelease,dist -Dproject.home="$home" -DskipTests "$@" deploy \
    -DaltDeploymentRepository="release::file://$made/repository"
# Only tests of other modules use these.
find "$made/repository" -name '*-tests.jar*' -delete
# A repository makes these itself.
find "$made/repository" -name 'maven-metadata.xml*' -delete
find "$made/repository" -type f -printf '%P\n' | LC_ALL=C sort >"$made/files"
(cd "$made/repository" && "$JAVA_HOME/bin/jar" --create --no-manifest --date=2026-01-01T00:00:00Z --file="$made/gatun-$version-maven.zip" @"$made/files")
rm "$made/files"
mv server/target/gatun-*.tar.gz server/target/gatun_*.deb server/target/gatun-*-image-*.tar "$made" 2>/dev/null || true
cd "$made"
rm -rf "$tree"
ls "$made"
