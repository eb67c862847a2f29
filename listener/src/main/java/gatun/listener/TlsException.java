// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

/** A TLS file that cannot be used. The text names its flag, the fault and the remedy. */
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
