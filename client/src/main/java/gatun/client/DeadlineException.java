// SPDX-License-Identifier: Apache-2.0
package gatun.client;

/** The deadline passed before the response was complete. The server may have done the work, or do it yet. */
public final class DeadlineException extends ClientException {
    private static final long serialVersionUID = 1;

    /** The text names the server, the operation, and the time waited. */
    public DeadlineException(String message) {
        super(message);
    }

    @Override
    public boolean mayHaveRun() {
        return true;
    }
}
