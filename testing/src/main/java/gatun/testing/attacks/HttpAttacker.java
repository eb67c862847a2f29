// SPDX-License-Identifier: Apache-2.0
package gatun.testing.attacks;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** One HTTP/1.1 connection that sends given bytes, and reads a response of any length without keeping it. */
public final class HttpAttacker implements AutoCloseable {
    private static final int LIMIT_MILLIS = 60_000;
    private static final int BUFFER_BYTES = 64 << 10;
    private static final String CHUNKED = "transfer-encoding: chunked";
    private static final String LENGTH = "content-length:";

    /** The response to a client whose connection ended without one. */
    public static final String CLOSED = "closed";

    private final Socket socket;
    private final InputStream in;
    private final OutputStream out;

    /** Connects. */
    public HttpAttacker(InetSocketAddress address) throws IOException {
        socket = new Socket(address.getAddress(), address.getPort());
        socket.setSoTimeout(LIMIT_MILLIS);
        in = new BufferedInputStream(socket.getInputStream(), BUFFER_BYTES);
        out = new BufferedOutputStream(socket.getOutputStream(), BUFFER_BYTES);
    }

    /** Sends a text as it is. */
    public void send(String text) throws IOException {
        send(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Sends bytes as they are. */
    public void send(byte... bytes) throws IOException {
        out.write(bytes);
        out.flush();
    }

    /** Sends the head of a POST that announces {@code byteSize} bytes of body. */
    public void announce(String path, long byteSize, String... headers) throws IOException {
        StringBuilder head = new StringBuilder("POST " + path + " HTTP/1.1\r\nHost: localhost\r\n");
        for (String header : headers) {
            head.append(header).append("\r\n");
        }
        send(head.append("Content-Length: ").append(byteSize).append("\r\n\r\n").toString());
    }

    /**
     * Posts a body and reads the response.
     *
     * @param pattern counted in the response's body
     */
    public Response post(String path, RepeatedBody body, String pattern, String... headers) throws IOException {
        announce(path, body.byteSize(), headers);
        try {
            body.writeTo(out);
        } catch (IOException e) {
            // The server may have answered before the end of the body, and closed.
        }
        return answer(pattern);
    }

    /** Reads a response. */
    public Response answer(String pattern) {
        try {
            String status = line();
            if (!status.startsWith("HTTP/1.1 ")) {
                return new Response(CLOSED, 0, "");
            }
            long length = -1;
            boolean chunked = false;
            for (String line = line(); !line.isEmpty(); line = line()) {
                String lower = line.toLowerCase(Locale.ROOT);
                if (lower.startsWith(LENGTH)) {
                    length = Long.parseLong(lower.substring(LENGTH.length()).strip());
                }
                chunked |= lower.equals(CHUNKED);
            }
            PatternCount count = new PatternCount(pattern);
            if (chunked) {
                for (long chunk = chunkSize(); chunk > 0; chunk = chunkSize()) {
                    readInto(count, chunk);
                    line();
                }
                line();
            } else {
                readInto(count, length < 0 ? Long.MAX_VALUE : length);
            }
            return new Response(status.split(" ", 3)[1], count.matches(), count.begin());
        } catch (IOException e) {
            return new Response(CLOSED, 0, String.valueOf(e.getMessage()));
        }
    }

    private long chunkSize() throws IOException {
        return Long.parseLong(line(), 16);
    }

    private void readInto(PatternCount count, long byteSize) throws IOException {
        byte[] bytes = new byte[BUFFER_BYTES];
        long left = byteSize;
        while (left > 0) {
            int read = in.read(bytes, 0, (int) Math.min(left, bytes.length));
            if (read < 0) {
                if (byteSize == Long.MAX_VALUE) {
                    return;
                }
                throw new IOException("the answer ended " + left + " bytes too early");
            }
            count.add(bytes, read);
            left -= read;
        }
    }

    /** Reads a line; empty at the end of the connection. */
    private String line() throws IOException {
        StringBuilder line = new StringBuilder();
        for (int b = in.read(); b >= 0 && b != '\n'; b = in.read()) {
            if (b != '\r') {
                line.append((char) b);
            }
        }
        return line.toString();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }

    /**
     * A response.
     *
     * @param status the number of the status, or {@link #CLOSED}
     * @param matches how often the pattern stood in the body
     * @param begin the beginning of the body
     */
    public record Response(String status, long matches, String begin) {}
}
