// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.nio.ByteBuffer;

/** The protocol that is spoken first on the connections of a listener. */
public enum WireProtocol {
    /** HTTP/1.1. */
    HTTP("http"),
    /** HTTP/1.1 over TLS. */
    HTTPS("https"),
    /** gRPC. */
    GRPC("grpc"),
    /** gRPC over TLS. */
    GRPCS("grpcs");

    private static final int SETTINGS = 4;
    private static final int GOAWAY = 7;
    private static final int FRAME_HEADER_SIZE = 9;

    private final String label;

    WireProtocol(String label) {
        this.label = label;
    }

    /** Its name in metrics. */
    public String label() {
        return label;
    }

    /** Bytes for a connection refused for {@code reason}, plain ASCII; none before a TLS handshake. */
    byte[] refusal(String reason) {
        return switch (this) {
            case HTTP -> httpRefusal(reason);
            case GRPC -> grpcRefusal(reason);
            case HTTPS, GRPCS -> new byte[0];
        };
    }

    private static byte[] httpRefusal(String reason) {
        String body = "{\"error\":\"" + reason + "\"}";
        return ("HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nContent-Length: " + body.length()
                        + "\r\nRetry-After: 1\r\nConnection: close\r\n\r\n" + body)
                .getBytes(US_ASCII);
    }

    /** GOAWAY before any stream: clients take their calls for not begun, and UNAVAILABLE. */
    private static byte[] grpcRefusal(String reason) {
        byte[] text = reason.getBytes(US_ASCII);
        int payload = 2 * Integer.BYTES + text.length;
        return ByteBuffer.allocate(2 * FRAME_HEADER_SIZE + payload)
                .putInt(SETTINGS)
                .put((byte) 0)
                .putInt(0)
                .putInt(payload << Byte.SIZE | GOAWAY)
                .put((byte) 0)
                .putInt(0)
                .putInt(0) // the last stream
                .putInt(0) // NO_ERROR
                .put(text)
                .array();
    }
}
