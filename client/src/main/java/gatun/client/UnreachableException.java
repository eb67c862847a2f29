package gatun.client;

/** The server could not be reached, or the connection broke before the answer was complete. */
public final class UnreachableException extends ClientException {
    private static final long serialVersionUID = 1;

    /** A failure that something else caused. */
    public UnreachableException(String message, Throwable cause) {
        super(message, cause);
    }

    /** A failure without a cause. */
    public UnreachableException(String message) {
        super(message);
    }
}
