// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import io.helidon.webserver.CloseConnectionException;

/** The faults of a client that end its connection early. */
public enum ClientError {
    /** The TLS handshake failed, or a record was not TLS. */
    TLS("tls", true),
    /** It sent something that is not the protocol. */
    MALFORMED("malformed", true),
    /** It sent too much of what costs a client nothing. */
    FLOOD("flood", true),
    /** It kept the server waiting for too long. */
    TIMEOUT("timeout", false),
    /** It left in the middle of a request or a response. */
    DISCONNECTED("disconnected", false);

    private final String label;
    private final boolean told;

    ClientError(String label, boolean told) {
        this.label = label;
        this.told = told;
    }

    /** Its name in metrics. */
    public String label() {
        return label;
    }

    /** Whether it is logged: leaving and being slow are too common for that. */
    boolean isTold() {
        return told;
    }

    /** Ends a connection because of its client, who has heard of it where that was possible. */
    public static final class ClientErrorException extends CloseConnectionException {
        private static final long serialVersionUID = 1;

        private final ClientError error;

        /** With a text for the log. */
        public ClientErrorException(ClientError error, String message) {
            super(message);
            this.error = error;
        }

        /** With a text for the log, and the failure that showed it. */
        public ClientErrorException(ClientError error, String message, Throwable cause) {
            super(message, cause);
            this.error = error;
        }

        /** The client's fault. */
        ClientError error() {
            return error;
        }
    }
}
