// SPDX-License-Identifier: Apache-2.0
package gatun.memory.tensor;

/**
 * The kind of failure of a {@link GatunException}, with gRPC's number for it. A protocol that has other statuses maps it
 * to them in one table.
 */
public enum ErrorCode {
    /** Nothing better is known. */
    UNKNOWN(2),
    /** A fault of the server or of an engine, not of the client. */
    INTERNAL(13),
    /** The named model, version or region does not exist. */
    NOT_FOUND(5),
    /** The request is wrong; sending it again cannot succeed. */
    INVALID_ARGUMENT(3),
    /** The request is more than a limit of the server lets through; sending it again cannot succeed. */
    RESOURCE_EXHAUSTED(8),
    /** The server cannot answer now: overloaded, starting, stopping, or the model is not ready. */
    UNAVAILABLE(14),
    /** The server does not do this, or not with its present settings. */
    UNSUPPORTED(12),
    /** The client may not do this, whatever it sends. */
    PERMISSION_DENIED(7),
    /** The name is taken. */
    ALREADY_EXISTS(6),
    /** The client went away or asked to stop. */
    CANCELLED(1);

    private final int number;

    ErrorCode(int number) {
        this.number = number;
    }

    /** gRPC's number for it. */
    public int number() {
        return number;
    }
}
