// SPDX-License-Identifier: Apache-2.0
package gatun.client;

/** The server's response does not follow the protocol. */
public final class MalformedResponseException extends ClientException {
    private static final long serialVersionUID = 1;

    /** A failure that something else caused. */
    public MalformedResponseException(String message, Throwable cause) {
        super(message, cause);
    }

    /** A failure without a cause. */
    public MalformedResponseException(String message) {
        super(message);
    }

    @Override
    public boolean mayHaveRun() {
        return true;
    }
}
