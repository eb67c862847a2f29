// SPDX-License-Identifier: Apache-2.0
package gatun.it.harness;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** One HTTP/1.1 connection, byte by byte: for Unix sockets and for requests that are sent in pieces. */
public final class RawHttp implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofSeconds(20);

    private final SocketChannel channel;
    private final ByteArrayOutputStream received = new ByteArrayOutputStream();

    private RawHttp(SocketChannel channel) {
        this.channel = channel;
    }

    public static RawHttp connect(SocketAddress address) throws IOException {
        return new RawHttp(SocketChannel.open(address));
    }

    /** The port of this end of a TCP connection. */
    public int localPort() throws IOException {
        return ((InetSocketAddress) channel.getLocalAddress()).getPort();
    }

    public RawHttp send(String text) throws IOException {
        return send(text.getBytes(UTF_8));
    }

    public RawHttp send(byte[] bytes) throws IOException {
        ByteBuffer left = ByteBuffer.wrap(bytes);
        while (left.hasRemaining()) {
            channel.write(left);
        }
        return this;
    }

    /** Says that no more comes. */
    public RawHttp endOutput() throws IOException {
        channel.shutdownOutput();
        return this;
    }

    /** Reads until {@code end} has been received, and returns everything up to and with it. */
    public String readUntil(String end) {
        received.reset();
        return within(() -> {
            ByteBuffer buffer = ByteBuffer.allocate(1);
            while (!text().endsWith(end) && channel.read(buffer) >= 0) {
                received.write(buffer.flip().get());
                buffer.clear();
            }
            return text();
        });
    }

    /** Reads one response with a Content-Length and returns its body; the headers must begin with {@code status}. */
    public byte[] readBody(String status) {
        String headers = readUntil("\r\n\r\n");
        if (!headers.startsWith(status)) {
            throw new AssertionError("expected '" + status + "' but received: " + headers);
        }
        int length = headers.toLowerCase(Locale.ROOT)
                .lines()
                .filter(line -> line.startsWith("content-length:"))
                .map(line -> Integer.parseInt(
                        line.substring("content-length:".length()).strip()))
                .findFirst()
                .orElseThrow();
        return within(() -> {
            ByteBuffer body = ByteBuffer.allocate(length);
            while (body.hasRemaining() && channel.read(body) >= 0) {
                // One read seldom brings all.
            }
            return body.array();
        });
    }

    private String text() {
        return received.toString(ISO_8859_1);
    }

    private <T> T within(Reading<T> reading) {
        CompletableFuture<T> result = CompletableFuture.supplyAsync(() -> {
            try {
                return reading.run();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        try {
            return result.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            throw new AssertionError("no answer within " + LIMIT + "; received: " + text(), e);
        } catch (Exception e) {
            throw new AssertionError("the connection broke; received: " + text(), e);
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    @FunctionalInterface
    private interface Reading<T> {
        T run() throws IOException;
    }
}
