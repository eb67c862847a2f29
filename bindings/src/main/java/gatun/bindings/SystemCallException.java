package gatun.bindings;

/** A system call failed. The text names the call, its subject and what the system said. */
public final class SystemCallException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final String call;
    private final int errno;

    /**
     * @param call the function that failed, as C names it
     * @param subject what it was called on: a key, a path, a descriptor
     * @param errno the error number that the call left
     * @param text the system's text for that number
     */
    public SystemCallException(String call, String subject, int errno, String text) {
        super(call + "(" + subject + "): " + text + " (errno " + errno + ")");
        this.call = call;
        this.errno = errno;
    }

    /** The function that failed. */
    public String call() {
        return call;
    }

    /** The error number that it left. */
    public int errno() {
        return errno;
    }
}
