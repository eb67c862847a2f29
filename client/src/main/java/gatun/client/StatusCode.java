// SPDX-License-Identifier: Apache-2.0
package gatun.client;

/** The kind of error that a server answered with, over either protocol: the names are gRPC's. */
public enum StatusCode {
    /** The client went away or asked to stop. */
    CANCELLED(1),
    /** Nothing better is known. */
    UNKNOWN(2),
    /** The request is wrong; sending it again cannot succeed. */
    INVALID_ARGUMENT(3),
    /** The server gave up since the request took too long. */
    DEADLINE_EXCEEDED(4),
    /** The named model, version or region does not exist. */
    NOT_FOUND(5),
    /** The name is taken. */
    ALREADY_EXISTS(6),
    /** The server knows who asks, and does not let them. */
    PERMISSION_DENIED(7),
    /** The request is too large, or the server has no room. */
    RESOURCE_EXHAUSTED(8),
    /** The server is not in the state for it. */
    FAILED_PRECONDITION(9),
    /** The server does not do this. */
    UNIMPLEMENTED(12),
    /** A fault of the server or of an engine. */
    INTERNAL(13),
    /** The server cannot answer now: overloaded, starting, stopping, or the model is not ready. */
    UNAVAILABLE(14),
    /** The token is missing or wrong. */
    UNAUTHENTICATED(16);

    private final int number;

    StatusCode(int number) {
        this.number = number;
    }

    /** gRPC's number for it. */
    public int number() {
        return number;
    }
}
