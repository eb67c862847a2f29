// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

/** The client broke HTTP/2 in a way that ends the whole connection; the text goes into the GOAWAY frame. */
final class ConnectionError extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final Http2Error error;

    ConnectionError(Http2Error error, String text) {
        super(text, null, false, false);
        this.error = error;
    }

    /** The error code for the GOAWAY frame. */
    Http2Error error() {
        return error;
    }
}
