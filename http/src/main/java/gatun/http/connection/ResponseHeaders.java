// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import gatun.http.json.JsonWriter;
import io.helidon.http.DateTime;
import io.helidon.http.Status;
import java.nio.charset.StandardCharsets;

/** A response's head: constant lines up to a missing value, and that number, not written if negative. Immutable. */
public record ResponseHeaders(Constant constant, long value) {
    private static final byte[] DATE = ascii("Date: ");
    private static final byte[] CONTENT_LENGTH = ascii("Content-Length: ");
    private static final byte[] CHUNKED = ascii("Transfer-Encoding: chunked");
    private static final byte[] CLOSE_ALONE = ascii("Connection: close\r\n\r\n");
    private static final byte[] CLOSE = ascii("\r\nConnection: close\r\n\r\n");
    private static final byte[] END = ascii("\r\n\r\n");
    private static final byte[] LINE_END = ascii("\r\n");
    private static final int NO_VALUE = -1;

    /** Lines that never change. */
    public static final class Constant {
        private final int status;
        private final byte[] bytes;

        private Constant(int status, byte[] bytes) {
            this.status = status;
            this.bytes = bytes;
        }
    }

    /** Lines of a response of status 200 with these headers. The last may end after its colon, for {@link #with}. */
    public static Constant constant(String... headers) {
        return constant(Status.OK_200, headers);
    }

    /** Lines of a response of this status with these headers. */
    public static Constant constant(Status status, String... headers) {
        StringBuilder lines = new StringBuilder("HTTP/1.1 " + status.codeText() + " " + status.reasonPhrase());
        for (String header : headers) {
            lines.append("\r\n").append(header);
        }
        return new Constant(status.code(), ascii(lines.toString()));
    }

    int status() {
        return constant.status;
    }

    /** A head of nothing but constant lines. */
    public static ResponseHeaders of(Constant constant) {
        return new ResponseHeaders(constant, NO_VALUE);
    }

    /** A head whose last constant line ends with this value. */
    public static ResponseHeaders with(Constant constant, long value) {
        return new ResponseHeaders(constant, value);
    }

    /** Writes the head of a response of {@code byteSize} bytes; {@code moreLines} are whole header lines. */
    void writeTo(JsonWriter head, long byteSize, byte[] moreLines, boolean close) {
        writeConstant(head, moreLines);
        head.raw(CONTENT_LENGTH, CONTENT_LENGTH.length).unsigned(byteSize);
        writeEnd(head, close);
    }

    void writeBodilessTo(JsonWriter head, byte[] moreLines, boolean close) {
        writeConstant(head, moreLines);
        head.raw(close ? "Connection: close\r\n\r\n" : "\r\n");
    }

    void writeChunkedTo(JsonWriter head, byte[] moreLines, boolean close) {
        writeConstant(head, moreLines);
        head.raw(CHUNKED, CHUNKED.length);
        writeEnd(head, close);
    }

    /** Writes the whole head of a response that ends where the connection does. */
    void writeUnboundedTo(JsonWriter head, byte[] moreLines) {
        writeConstant(head, moreLines);
        head.raw(CLOSE_ALONE, CLOSE_ALONE.length);
    }

    private void writeConstant(JsonWriter head, byte[] moreLines) {
        head.raw(constant.bytes, constant.bytes.length);
        if (value >= 0) {
            head.unsigned(value);
        }
        head.raw(LINE_END, LINE_END.length).raw(moreLines, moreLines.length).raw(DATE, DATE.length);
        byte[] date = DateTime.http1Bytes();
        head.raw(date, date.length);
    }

    private static void writeEnd(JsonWriter head, boolean close) {
        byte[] end = close ? CLOSE : END;
        head.raw(end, end.length);
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
