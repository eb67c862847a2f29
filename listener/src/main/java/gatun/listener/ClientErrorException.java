// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import io.helidon.webserver.CloseConnectionException;

/** Ends a connection because of its client, who has heard of it where that was possible. */
public final class ClientErrorException extends CloseConnectionException {
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
