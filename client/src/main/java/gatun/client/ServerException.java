package gatun.client;

/** The server answered with an error. */
public final class ServerException extends ClientException {
    private static final long serialVersionUID = 1;

    private final StatusCode code;
    private final int status;

    /**
     * @param code what kind of error
     * @param status the number that came over the wire: HTTP's status or gRPC's code
     * @param text what the server said, word for word
     */
    public ServerException(StatusCode code, int status, String text) {
        super(text);
        this.code = code;
        this.status = status;
    }

    /** What kind of error it is. */
    public StatusCode code() {
        return code;
    }

    /** The number that came over the wire: HTTP's status or gRPC's code. */
    public int status() {
        return status;
    }
}
