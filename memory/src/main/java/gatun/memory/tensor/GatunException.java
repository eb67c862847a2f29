// SPDX-License-Identifier: Apache-2.0
package gatun.memory.tensor;

/**
 * The one failure that crosses module boundaries above {@code gatun.bindings}: a code for the protocol's table and a
 * text for the person who reads it. The text says what was wrong, the value, and what was expected; it never holds
 * names internal to the server. Carries no stack trace for client mistakes, which are frequent and not faults of the
 * code.
 */
public class GatunException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final ErrorCode code;

    /** A failure without a cause. */
    public GatunException(ErrorCode code, String message) {
        super(message, null, false, code == ErrorCode.INTERNAL || code == ErrorCode.UNKNOWN);
        this.code = code;
    }

    /** A failure that something else caused; the cause is for the log, never for the client. */
    public GatunException(ErrorCode code, String message, Throwable cause) {
        super(message, cause, false, code == ErrorCode.INTERNAL || code == ErrorCode.UNKNOWN);
        this.code = code;
    }

    /** The client's request was wrong. */
    public static GatunException invalidArgument(String message) {
        return new GatunException(ErrorCode.INVALID_ARGUMENT, message);
    }

    /** The kind of failure. */
    public ErrorCode code() {
        return code;
    }

    /** The text for the client; never null. */
    @Override
    public String getMessage() {
        String message = super.getMessage();
        return message == null ? code.name() : message;
    }
}
