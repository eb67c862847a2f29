package gatun.client;

/** What kind of refusal a server answered with, over whichever protocol: the names are gRPC's. */
public enum StatusCode {
    /** The client went away or asked to stop. */
    CANCELLED,
    /** Nothing better is known. */
    UNKNOWN,
    /** The request is wrong; sending it again cannot succeed. */
    INVALID_ARGUMENT,
    /** The server gave up since the request took too long. */
    DEADLINE_EXCEEDED,
    /** The named model, version or region does not exist. */
    NOT_FOUND,
    /** The name is taken. */
    ALREADY_EXISTS,
    /** The server knows who asks, and does not let them. */
    PERMISSION_DENIED,
    /** The request is too large, or the server has no room. */
    RESOURCE_EXHAUSTED,
    /** The server is not in the state for it. */
    FAILED_PRECONDITION,
    /** The server does not do this. */
    UNIMPLEMENTED,
    /** A fault of the server or of an engine. */
    INTERNAL,
    /** The server cannot answer now: overloaded, starting, stopping, or the model is not ready. */
    UNAVAILABLE,
    /** The token is missing or wrong. */
    UNAUTHENTICATED
}
