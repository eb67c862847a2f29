// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

/**
 * Says that a file for TLS cannot be used. The text tells the operator which flag named it, what is wrong and what to
 * do.
 */
public final class TlsException extends RuntimeException {
    private static final long serialVersionUID = 1;

    TlsException(String message, Throwable cause) {
        super(message, cause);
    }

    TlsException(String message) {
        super(message);
    }

    /** The text for the operator; never null. */
    @Override
    public String getMessage() {
        return String.valueOf(super.getMessage());
    }
}
