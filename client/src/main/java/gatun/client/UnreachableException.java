// SPDX-License-Identifier: Apache-2.0
package gatun.client;

/** The server could not be reached, or the connection broke before the response was complete. */
public final class UnreachableException extends ClientException {
    private static final long serialVersionUID = 1;

    private final boolean arrived;

    /** A failure that something else caused, after the request may have arrived. */
    public UnreachableException(String message, Throwable cause) {
        this(message, cause, true);
    }

    /** A failure without a cause, after the request may have arrived. */
    public UnreachableException(String message) {
        super(message);
        this.arrived = true;
    }

    /**
     * A failure that something else caused.
     *
     * @param mayHaveArrived see {@link #mayHaveArrived}
     */
    public UnreachableException(String message, Throwable cause, boolean mayHaveArrived) {
        super(message, cause);
        this.arrived = mayHaveArrived;
    }

    @Override
    public boolean mayHaveRun() {
        return arrived;
    }

    /** Whether the server may have got the request and carried it out; false when it certainly has not. */
    public boolean mayHaveArrived() {
        return arrived;
    }
}
