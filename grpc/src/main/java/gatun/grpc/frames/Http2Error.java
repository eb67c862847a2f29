// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.frames;

/** Why a stream or a connection ends, in HTTP/2's numbers; those that this side has a use for. */
public enum Http2Error {
    NO_ERROR(0x0),
    PROTOCOL_ERROR(0x1),
    FLOW_CONTROL_ERROR(0x3),
    STREAM_CLOSED(0x5),
    FRAME_SIZE_ERROR(0x6),
    REFUSED_STREAM(0x7),
    CANCEL(0x8),
    COMPRESSION_ERROR(0x9),
    ENHANCE_YOUR_CALM(0xb);

    private final int code;

    Http2Error(int code) {
        this.code = code;
    }

    /** The code on the wire. */
    public int code() {
        return code;
    }

    /** The client broke HTTP/2 in a way that ends the whole connection; the text goes into the GOAWAY frame. */
    public static final class ConnectionError extends RuntimeException {
        private static final long serialVersionUID = 1;

        private final Http2Error error;

        public ConnectionError(Http2Error error, String text) {
            super(text, null, false, false);
            this.error = error;
        }

        /** The error code for the GOAWAY frame. */
        public Http2Error error() {
            return error;
        }
    }
}
