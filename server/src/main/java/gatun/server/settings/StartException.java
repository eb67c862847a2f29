// SPDX-License-Identifier: Apache-2.0
package gatun.server.settings;

/** The server cannot start; the text tells the operator why and what to do. */
public final class StartException extends RuntimeException {
    private static final long serialVersionUID = 1;

    public StartException(String message) {
        super(message, null, false, false);
    }

    public StartException(String message, Throwable cause) {
        super(message, cause, false, false);
    }

    /** The text for the operator; never null. */
    @Override
    public String getMessage() {
        String message = super.getMessage();
        return message == null ? "the server cannot start" : message;
    }
}
