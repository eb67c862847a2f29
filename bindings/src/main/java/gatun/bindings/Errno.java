// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import gatun.bindings.posix.posix_h;
import java.util.Optional;

/** The values of {@code errno} that some caller decides by. All others are text only. */
public enum Errno {
    /** Permission denied by the file's mode. */
    EACCES(posix_h.EACCES()),
    /** Try again; from a futex: the word no longer held the expected value. */
    EAGAIN(posix_h.EAGAIN()),
    /** Not an open descriptor. */
    EBADF(posix_h.EBADF()),
    /** The object is in use, for instance sealed while a writable mapping exists. */
    EBUSY(posix_h.EBUSY()),
    /** The name is taken. */
    EEXIST(posix_h.EEXIST()),
    /** An address outside the process. */
    EFAULT(posix_h.EFAULT()),
    /** Larger than the file system allows. */
    EFBIG(posix_h.EFBIG()),
    /** A signal arrived first. */
    EINTR(posix_h.EINTR()),
    /** A value the call does not accept. */
    EINVAL(posix_h.EINVAL()),
    /** The device failed. */
    EIO(posix_h.EIO()),
    /** A folder where a file was expected. */
    EISDIR(posix_h.EISDIR()),
    /** A symbolic link where none may be, or too many of them. */
    ELOOP(posix_h.ELOOP()),
    /** This process has no descriptor left. */
    EMFILE(posix_h.EMFILE()),
    /** The name is too long. */
    ENAMETOOLONG(posix_h.ENAMETOOLONG()),
    /** The system has no descriptor left. */
    ENFILE(posix_h.ENFILE()),
    /** The file cannot be mapped. */
    ENODEV(posix_h.ENODEV()),
    /** No such object. */
    ENOENT(posix_h.ENOENT()),
    /** No memory, or no room in the address space. */
    ENOMEM(posix_h.ENOMEM()),
    /** The file system is full. */
    ENOSPC(posix_h.ENOSPC()),
    /** The kernel lacks the call. */
    ENOSYS(posix_h.ENOSYS()),
    /** A part of the path is not a folder. */
    ENOTDIR(posix_h.ENOTDIR()),
    /** No such device. */
    ENXIO(posix_h.ENXIO()),
    /** The file system lacks the operation. */
    EOPNOTSUPP(posix_h.EOPNOTSUPP()),
    /** A number does not fit its type. */
    EOVERFLOW(posix_h.EOVERFLOW()),
    /** Not permitted: a seal forbids it, or the user may not. */
    EPERM(posix_h.EPERM()),
    /** A file system that is read-only. */
    EROFS(posix_h.EROFS()),
    /** Not a regular file but a pipe or socket. */
    ESPIPE(posix_h.ESPIPE()),
    /** The time is over. */
    ETIMEDOUT(posix_h.ETIMEDOUT()),
    /** The file is being executed. */
    ETXTBSY(posix_h.ETXTBSY());

    private final int code;

    Errno(int code) {
        this.code = code;
    }

    /** The number that the C library uses for it on this platform. */
    public int code() {
        return code;
    }

    /** The constant for {@code code}, or empty when no caller decides by it. */
    public static Optional<Errno> of(int code) {
        for (Errno errno : values()) {
            if (errno.code == code) {
                return Optional.of(errno);
            }
        }
        return Optional.empty();
    }
}
