// SPDX-License-Identifier: Apache-2.0
package gatun.memory.tensor;

/** The kind of failure of a {@link GatunException}; each protocol maps it to a status of its own in one table. */
public enum ErrorCode {
    /** Nothing better is known. */
    UNKNOWN,
    /** A fault of the server or of an engine, not of the client. */
    INTERNAL,
    /** The named model, version or region does not exist. */
    NOT_FOUND,
    /** The request is wrong; sending it again cannot succeed. */
    INVALID_ARGUMENT,
    /** The request is more than a limit of the server lets through; sending it again cannot succeed. */
    RESOURCE_EXHAUSTED,
    /** The server cannot answer now: overloaded, starting, stopping, or the model is not ready. */
    UNAVAILABLE,
    /** The server does not do this, or not with its present settings. */
    UNSUPPORTED,
    /** The client may not do this, whatever it sends. */
    PERMISSION_DENIED,
    /** The name is taken. */
    ALREADY_EXISTS,
    /** The client went away or asked to stop. */
    CANCELLED
}
