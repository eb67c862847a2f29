// SPDX-License-Identifier: Apache-2.0
package gatun.protocol.testing;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** A connection on which a test writes any bytes, also invalid HTTP. */
public final class RawClient implements AutoCloseable {
    private final Socket socket;
    private final InputStream in;

    /** A response as it came. */
    public static final class Response {
        private final int status;
        private final Map<String, String> headers;
        private final byte[] body;

        private Response(int status, Map<String, String> headers, byte[] body) {
            this.status = status;
            this.headers = headers;
            this.body = body;
        }

        /** The status code. */
        public int status() {
            return status;
        }

        /** The headers, their names in lower case. */
        public Map<String, String> headers() {
            return headers;
        }

        /** The body. */
        public byte[] body() {
            return body;
        }

        /** The body as text. */
        public String text() {
            return new String(body, StandardCharsets.UTF_8);
        }
    }

    /** Connects to a port of this machine. */
    public RawClient(int port) {
        try {
            socket = new Socket(InetAddress.getLoopbackAddress(), port);
            socket.setTcpNoDelay(true);
            socket.setSoTimeout((int) ListenerUnderTest.DEADLINE.toMillis());
            in = new BufferedInputStream(socket.getInputStream());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Sends {@code text}, in which each line feed stands for the end of a line of HTTP. */
    public RawClient sendLines(String text) {
        return send(text.replace("\n", "\r\n"));
    }

    /** Sends {@code text} as it is. */
    public RawClient send(String text) {
        return send(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Sends bytes. */
    public RawClient send(byte[] bytes) {
        try {
            socket.getOutputStream().write(bytes);
            return this;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Sends no more, but goes on to read. */
    public RawClient endOutput() {
        try {
            socket.shutdownOutput();
            return this;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Reads a response whose length is announced. */
    public Response read() {
        String[] status = line().split(" ", 3);
        Map<String, String> headers = new TreeMap<>();
        for (String line = line(); !line.isEmpty(); line = line()) {
            String[] header = line.split(":", 2);
            headers.put(header[0].toLowerCase(Locale.ROOT), header[1].strip());
        }
        int length = Integer.parseInt(headers.getOrDefault("content-length", "0"));
        try {
            return new Response(Integer.parseInt(status[1]), headers, in.readNBytes(length));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Reads one byte; -1 when the server has ended the connection. */
    public int readByte() {
        try {
            return in.read();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Reads a line without its end. */
    public String line() {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int next = readByte(); next != '\n'; next = readByte()) {
            if (next < 0) {
                throw new AssertionError("the server ended the connection after: " + line);
            }
            line.write(next);
        }
        return line.toString(StandardCharsets.ISO_8859_1).stripTrailing();
    }

    /** Ends the connection at once, so that the server cannot send any more. */
    public void reset() {
        try {
            socket.setSoLinger(true, 0);
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
