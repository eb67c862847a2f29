#!/bin/sh
# Runs the image in $CONTAINER_ROOT as an engine of containers does, with these arguments: its root is read-only but for
# /tmp, mounts, host name and shared memory are its own, and its memory is said to be $CONTAINER_MEMORY bytes. What the arguments name of this machine, $CONTAINER_FILES and
# what lies below it, is there too. Needs root, which the program then has no more.
set -eu
if [ "${CONTAINER_INSIDE:-}" != yes ]; then
    CONTAINER_INSIDE=yes exec unshare --mount --uts --ipc "$0" "$@"
fi
root=$CONTAINER_ROOT
mount --make-rprivate /
mkdir -p "$root$CONTAINER_FILES"
mount --bind "$root" "$root"
mount -o remount,ro,bind "$root"
mount -t tmpfs tmpfs "$root/tmp"
# Once more, where it lies below /tmp.
mkdir -p "$root$CONTAINER_FILES"
mount --bind "$CONTAINER_FILES" "$root$CONTAINER_FILES"
mount --rbind /proc "$root/proc"
mount -t tmpfs tmpfs "$root/dev"
for device in null random urandom; do
    touch "$root/dev/$device"
    mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir "$root/dev/shm"
mount -t tmpfs tmpfs "$root/dev/shm"
mount -t tmpfs tmpfs "$root/sys"
mkdir -p "$root/sys/fs/cgroup"
echo "$CONTAINER_MEMORY" >"$root/sys/fs/cgroup/memory.max"
for argument; do
    case $argument in
        --ready-file=*) chown "$CONTAINER_USER" "$(dirname "${argument#*=}")" ;;
    esac
done
# shellcheck disable=SC2086 # variables are separated by blanks
exec env -i $CONTAINER_ENVIRONMENT "$(command -v chroot)" --userspec="$CONTAINER_USER" "$root" gatun "$@"
