// SPDX-License-Identifier: Apache-2.0
package gatun.client;

/** The server answered with an error. */
public final class ServerException extends ClientException {
    private static final long serialVersionUID = 1;

    private final StatusCode code;
    private final int status;

    /**
     * @param code the kind of error
     * @param status the number that came over the wire: HTTP's status or gRPC's code
     * @param text the server's own text
     */
    public ServerException(StatusCode code, int status, String text) {
        super(text);
        this.code = code;
        this.status = status;
    }

    /**
     * False for errors by which servers refuse requests before they run anything, such as UNAVAILABLE: by that a server
     * says that it has applied no step of a sequence. Any other error may also come from a run, or from after it.
     */
    @Override
    public boolean mayHaveRun() {
        return switch (code) {
            case UNAVAILABLE, NOT_FOUND, UNAUTHENTICATED, PERMISSION_DENIED, ALREADY_EXISTS -> false;
            default -> true;
        };
    }

    /** The kind of error. */
    public StatusCode code() {
        return code;
    }

    /** The number that came over the wire: HTTP's status or gRPC's code. */
    public int status() {
        return status;
    }
}
