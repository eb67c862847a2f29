#!/bin/sh
# Makes the Debian package of a distribution: deb.sh PROJECT DISTRIBUTION VERSION FOLDER MACHINE, as
# FOLDER/gatun_VERSION_ARCHITECTURE.deb. Needs dpkg-deb; the same distribution makes the same package.
set -eu
project=$1
distribution=$2
version=$3
folder=$4
case $5 in
    x86_64) architecture=amd64 ;;
    aarch64) architecture=arm64 ;;
    *)
        echo "no engine has a library for $5" >&2
        exit 1
        ;;
esac
# "~" sorts before what has none: a snapshot is older than its release.
debian=$(printf '%s' "$version" | sed 's/-SNAPSHOT$/~SNAPSHOT/')
packaging=$project/packaging
maintainer="The Gatun authors <gatun@localhost>"
made=$folder/gatun_${debian}_$architecture.deb
root=$(mktemp -d "$folder/deb.XXXXXX")
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"

doc=$root/usr/share/doc/gatun
mkdir -p "$root/DEBIAN" "$root/usr/bin" "$root/usr/lib/gatun" "$root/usr/lib/systemd/system" "$root/usr/lib/sysusers.d" "$root/etc/gatun" "$doc" \
    "$root/usr/share/man/man1" "$root/usr/share/bash-completion/completions" "$root/usr/share/zsh/vendor-completions" \
    "$root/usr/share/fish/vendor_completions.d"
for part in bin lib native runtime; do
    [ ! -d "$distribution/$part" ] || cp -a "$distribution/$part" "$root/usr/lib/gatun"
done
ln -s ../lib/gatun/bin/gatun "$root/usr/bin/gatun"
# Not tensorflow_model_server: a package of TensorFlow Serving has that file.
ln -s ../lib/gatun/bin/tritonserver "$root/usr/bin/tritonserver"
install -m 644 "$packaging/systemd/gatun.service" "$root/usr/lib/systemd/system/gatun.service"
install -m 644 "$packaging/systemd/gatun.sysusers" "$root/usr/lib/sysusers.d/gatun.conf"
install -m 644 "$packaging/debian/gatun.yaml" "$root/etc/gatun/gatun.yaml"
gzip -9nc "$distribution/share/man/man1/gatun.1" >"$root/usr/share/man/man1/gatun.1.gz"
install -m 644 "$distribution/share/bash-completion/completions/gatun" "$root/usr/share/bash-completion/completions/gatun"
install -m 644 "$distribution/share/zsh/site-functions/_gatun" "$root/usr/share/zsh/vendor-completions/_gatun"
install -m 644 "$distribution/share/fish/vendor_completions.d/gatun.fish" "$root/usr/share/fish/vendor_completions.d/gatun.fish"
install -m 644 "$packaging/debian/copyright" "$doc/copyright"
gzip -9nc "$distribution/CHANGELOG.md" >"$doc/CHANGELOG.md.gz"
gzip -9nc >"$doc/changelog.gz" <<CHANGELOG
gatun ($debian) unstable; urgency=medium

  * See CHANGELOG.md.gz for what users notice.

 -- $maintainer  Thu, 01 Jan 2026 00:00:00 +0000
CHANGELOG
cp -R "$distribution/models" "$doc/examples"

depends="libc6, libgcc-s1, libstdc++6"
# A distribution without a runtime finds Java on the machine.
[ -d "$distribution/runtime" ] || depends="$depends, openjdk-25-jre-headless | java25-runtime-headless | java22-runtime-headless"
cat >"$root/DEBIAN/control" <<CONTROL
Package: gatun
Version: $debian
Section: net
Priority: optional
Architecture: $architecture
Maintainer: $maintainer
Depends: $depends
Recommends: systemd
Installed-Size: $(du -sk --exclude=DEBIAN "$root" | cut -f1)
Description: model inference server
 Gatun serves models over HTTP and gRPC: the Open Inference Protocol of Triton
 and KServe, TensorFlow Serving's protocol, and the older v1 API. Tensors are
 read and written where they arrived.
 .
 It runs ONNX models, and Python models with a Python that has numpy. With
 libraries that "gatun install" downloads it also runs TensorFlow's SavedModels,
 PyTorch's compiled packages, and decision trees of XGBoost and LightGBM; with a
 GPU's driver it runs CUDA kernels.
 .
 The service serves the models in /var/lib/gatun/models, as
 /etc/gatun/gatun.yaml says.
CONTROL
printf '/etc/gatun/gatun.yaml\n' >"$root/DEBIAN/conffiles"
for script in postinst prerm postrm; do
    install -m 755 "$packaging/debian/$script" "$root/DEBIAN/$script"
done
find "$root" -exec touch -h -d @1767225600 {} +
SOURCE_DATE_EPOCH=1767225600 dpkg-deb --root-owner-group -Zgzip "-z${GATUN_COMPRESSION:-6}" --build "$root" "$made" >/dev/null
