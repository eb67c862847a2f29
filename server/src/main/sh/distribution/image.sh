#!/bin/sh
# Makes a container image of a distribution without a container engine: image.sh DISTRIBUTION VERSION FOLDER, as the OCI
# archive FOLDER/gatun-VERSION-image-ARCHITECTURE.tar, which podman, skopeo and docker (from 25 on) load. Below Gatun lies
# what it needs of Debian and no more: the C and C++ libraries, and busybox for the launcher. It is downloaded by apt-get,
# as Debian signs it, so this runs on Debian alone. The same packages and distribution make the same image.
set -eu
distribution=$1
version=$2
folder=$3
case $(uname -m) in
    x86_64) architecture=amd64 ;;
    aarch64) architecture=arm64 ;;
    *)
        echo "no engine has a library for $(uname -m)" >&2
        exit 1
        ;;
esac
[ -x "$distribution/runtime/bin/java" ] || {
    echo "$distribution has no Java runtime, which an image needs; make it with a JDK of which jlink can make one" >&2
    exit 1
}
for program in apt-get dpkg-deb; do
    command -v "$program" >/dev/null || {
        echo "$program is missing: the image's libraries come from Debian's packages" >&2
        exit 1
    }
done
# Not root, and known to no file that the image may write.
user=65532
epoch=1767225600
work=$(mktemp -d "$folder/image.XXXXXX")
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
blobs=$work/image/blobs/sha256
mkdir -p "$work/packages" "$work/base" "$blobs"

# Puts the file $1 among the blobs and says its descriptor of type $2.
blob() {
    digest=$(sha256sum "$1" | cut -d ' ' -f 1)
    size=$(stat -c %s "$1")
    mv "$1" "$blobs/$digest"
    printf '{"mediaType":"%s","digest":"sha256:%s","size":%s' "$2" "$digest" "$size"
}

# Packs the folder $1 as a layer: its descriptor goes to $work/$2.layer, the hash of what is packed to $work/$2.hash.
layer() {
    find "$1" -exec touch -h -d @$epoch {} +
    tar --sort=name --owner=0 --group=0 --numeric-owner -cf "$work/$2.tar" -C "$1" .
    sha256sum "$work/$2.tar" | cut -d ' ' -f 1 >"$work/$2.hash"
    gzip -n "-${GATUN_COMPRESSION:-6}" "$work/$2.tar"
    blob "$work/$2.tar.gz" application/vnd.oci.image.layer.v1.tar+gzip >"$work/$2.layer"
}

base=$work/base
(cd "$work/packages" && apt-get -qq -o APT::Sandbox::User=root download base-files libc6 libgcc-s1 libstdc++6 busybox-static)
for package in "$work"/packages/*.deb; do
    dpkg-deb --extract "$package" "$base"
done
# Nobody reads them there.
rm -rf "$base/usr/share/man" "$base/usr/share/locale" "$base/usr/share/lintian" "$base/usr/share/gconv" "$base/usr/lib/"*-linux-gnu/gconv \
    "$base/lib/"*-linux-gnu/gconv
# As in Debian, where /bin and /lib are links to what lies in /usr.
for directory in bin sbin lib lib64; do
    mkdir -p "$base/usr/$directory"
    if [ -d "$base/$directory" ] && [ ! -h "$base/$directory" ]; then
        cp -a "$base/$directory/." "$base/usr/$directory/"
        rm -rf "${base:?}/$directory"
    fi
    ln -sfn "usr/$directory" "$base/$directory"
done
for command in $("$base/usr/bin/busybox" --list); do
    [ -e "$base/usr/bin/$command" ] || ln -s busybox "$base/usr/bin/$command"
done
mkdir -p "$base/etc" "$base/tmp" "$base/models" "$base/proc" "$base/sys" "$base/dev" "$base/run"
chmod 1777 "$base/tmp"
printf 'root:x:0:0:root:/root:/bin/sh\ngatun:x:%s:%s:gatun:/tmp:/bin/sh\n' $user $user >"$base/etc/passwd"
printf 'root:x:0:\ngatun:x:%s:\n' $user >"$base/etc/group"
printf 'hosts: files dns\n' >"$base/etc/nsswitch.conf"
# Engines of containers put their own in its place.
printf '127.0.0.1 localhost\n::1 localhost\n' >"$base/etc/hosts"
layer "$base" base

mkdir -p "$work/gatun/opt/gatun" "$work/gatun/usr/bin" "$work/gatun/usr/share/doc/gatun"
for part in bin lib native runtime; do
    cp -a "$distribution/$part" "$work/gatun/opt/gatun"
done
cp "$distribution/LICENSE" "$distribution/CHANGELOG.md" "$work/gatun/usr/share/doc/gatun"
for command in "$distribution"/bin/*; do
    ln -s "../../opt/gatun/bin/$(basename "$command")" "$work/gatun/usr/bin/$(basename "$command")"
done
layer "$work/gatun" gatun

cat >"$work/configuration.json" <<CONFIGURATION
{"created":"2026-01-01T00:00:00Z","architecture":"$architecture","os":"linux","config":{"User":"$user:$user","Env":["PATH=/usr/bin","HOME=/tmp","GATUN_CACHE=/tmp/gatun"],"Entrypoint":["gatun"],"Cmd":["serve","--model-repository=/models"],"WorkingDir":"/tmp","ExposedPorts":{"8000/tcp":{},"8001/tcp":{},"8002/tcp":{}},"StopSignal":"SIGTERM","Labels":{"org.opencontainers.image.title":"gatun","org.opencontainers.image.version":"$version","org.opencontainers.image.licenses":"Apache-2.0"}},"rootfs":{"type":"layers","diff_ids":["sha256:$(cat "$work/base.hash")","sha256:$(cat "$work/gatun.hash")"]}}
CONFIGURATION
configuration=$(blob "$work/configuration.json" application/vnd.oci.image.config.v1+json)
printf '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":%s},"layers":[%s},%s}]}' \
    "$configuration" "$(cat "$work/base.layer")" "$(cat "$work/gatun.layer")" >"$work/manifest.json"
manifest=$(blob "$work/manifest.json" application/vnd.oci.image.manifest.v1+json)
printf '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[%s,"annotations":{"org.opencontainers.image.ref.name":"%s","io.containerd.image.name":"%s"},"platform":{"architecture":"%s","os":"linux"}}]}' \
    "$manifest" "gatun:$version" "docker.io/library/gatun:$version" "$architecture" >"$work/image/index.json"
printf '{"imageLayoutVersion":"1.0.0"}' >"$work/image/oci-layout"
find "$work/image" -exec touch -d @$epoch {} +
tar --sort=name --owner=0 --group=0 --numeric-owner -cf "$folder/gatun-$version-image-$(uname -m).tar" -C "$work/image" .
