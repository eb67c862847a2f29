// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

/** A failed system call, such as {@code shm_open /frames: No such file or directory (ENOENT)}. */
public final class SystemCallException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String call;
    private final String subject;
    private final int errno;

    /** For {@code call}, named as in C, on {@code subject}: a key, path or descriptor; {@code errno} right after it. */
    public SystemCallException(String call, String subject, int errno) {
        super(call + " " + subject + ": " + Posix.errorText(errno));
        this.call = call;
        this.subject = subject;
        this.errno = errno;
    }

    /** The C name of the call. */
    public String call() {
        return call;
    }

    /** The object of the call, such as a path. Not to be echoed to clients: it may be internal. */
    public String subject() {
        return subject;
    }

    /** The captured {@code errno}. */
    public int errno() {
        return errno;
    }

    /** Whether the call failed for this reason. */
    public boolean is(Errno reason) {
        return errno == reason.code();
    }
}
