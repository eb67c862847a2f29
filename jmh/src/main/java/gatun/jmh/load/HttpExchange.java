// SPDX-License-Identifier: Apache-2.0
package gatun.jmh.load;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** A keep-alive HTTP/1.1 connection that writes prepared bytes and reads the response by its Content-Length. */
final class HttpExchange implements Exchange {
    private static final byte[] LENGTH = "content-length:".getBytes(StandardCharsets.US_ASCII);

    private final Socket socket;
    private final OutputStream out;
    private final InputStream in;
    private final byte[] request;
    private final byte[] line = new byte[8192];
    private final byte[] body = new byte[1 << 16];

    HttpExchange(int port, byte[] request) throws IOException {
        this.request = request;
        socket = new Socket();
        socket.setTcpNoDelay(true);
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        socket.setSoTimeout(30_000);
        out = socket.getOutputStream();
        in = new BufferedInputStream(socket.getInputStream(), 1 << 16);
    }

    /** The bytes of a POST with this body. */
    static byte[] post(String path, String headers, byte[] body) {
        byte[] head = ("POST " + path + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "Content-Length: " + body.length
                        + "\r\n\r\n")
                .getBytes(StandardCharsets.US_ASCII);
        byte[] all = new byte[head.length + body.length];
        System.arraycopy(head, 0, all, 0, head.length);
        System.arraycopy(body, 0, all, head.length, body.length);
        return all;
    }

    @Override
    public void call() {
        try {
            exchange();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void exchange() throws IOException {
        out.write(request);
        int statusLength = readLine();
        if (statusLength < 12 || line[9] != '2') {
            throw new IllegalStateException(new String(line, 0, statusLength, StandardCharsets.US_ASCII));
        }
        long length = 0;
        for (int size = readLine(); size > 0; size = readLine()) {
            if (isLength(size)) {
                length = Long.parseLong(
                        new String(line, LENGTH.length, size - LENGTH.length, StandardCharsets.US_ASCII).strip());
            }
        }
        while (length > 0) {
            int read = in.read(body, 0, (int) Math.min(body.length, length));
            if (read < 0) {
                throw new IllegalStateException("the server closed the connection inside a body");
            }
            length -= read;
        }
    }

    private boolean isLength(int size) {
        if (size < LENGTH.length) {
            return false;
        }
        for (int i = 0; i < LENGTH.length; i++) {
            if ((line[i] | 0x20) != (LENGTH[i] | 0x20)) {
                return false;
            }
        }
        return true;
    }

    /** Reads one line into {@link #line} and returns its length without the line end. */
    private int readLine() throws IOException {
        int size = 0;
        while (true) {
            int b = in.read();
            if (b < 0) {
                throw new IllegalStateException("the server closed the connection");
            }
            if (b == '\n') {
                return size > 0 && line[size - 1] == '\r' ? size - 1 : size;
            }
            line[size++] = (byte) b;
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
