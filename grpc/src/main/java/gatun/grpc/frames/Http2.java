// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.frames;

import java.nio.charset.StandardCharsets;

/** The numbers of HTTP/2 (RFC 9113) that a connection needs. */
public final class Http2 {
    public static final int FRAME_HEADER_SIZE = 9;

    public static final int DATA = 0x0;
    public static final int HEADERS = 0x1;
    public static final int PRIORITY = 0x2;
    public static final int RST_STREAM = 0x3;
    public static final int SETTINGS = 0x4;
    public static final int PUSH_PROMISE = 0x5;
    public static final int PING = 0x6;
    public static final int GOAWAY = 0x7;
    public static final int WINDOW_UPDATE = 0x8;
    public static final int CONTINUATION = 0x9;

    public static final int FLAG_ACK = 0x1;
    public static final int FLAG_END_STREAM = 0x1;
    public static final int FLAG_END_HEADERS = 0x4;
    public static final int FLAG_PADDED = 0x8;
    public static final int FLAG_PRIORITY = 0x20;

    public static final int SETTINGS_ENABLE_PUSH = 0x2;
    public static final int SETTINGS_MAX_CONCURRENT_STREAMS = 0x3;
    public static final int SETTINGS_INITIAL_WINDOW_SIZE = 0x4;
    public static final int SETTINGS_MAX_FRAME_SIZE = 0x5;
    public static final int SETTINGS_MAX_HEADER_LIST_SIZE = 0x6;

    /** The size of every window until somebody says otherwise. */
    public static final int DEFAULT_WINDOW_SIZE = 65_535;

    /** The largest frame payload until somebody says otherwise; also the least that may be said. */
    public static final int DEFAULT_MAX_FRAME_SIZE = 16_384;

    public static final int LARGEST_MAX_FRAME_SIZE = (1 << 24) - 1;
    public static final long LARGEST_WINDOW_SIZE = Integer.MAX_VALUE;
    public static final int LARGEST_STREAM_ID = Integer.MAX_VALUE;

    private static final byte[] PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

    private Http2() {}

    /** The first bytes of every client; a copy. */
    public static byte[] preface() {
        return PREFACE.clone();
    }
}
