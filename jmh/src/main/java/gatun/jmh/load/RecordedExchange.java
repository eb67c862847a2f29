// SPDX-License-Identifier: Apache-2.0
package gatun.jmh.load;

import gatun.client.GatunClient;
import gatun.client.InferRequest;
import gatun.client.InferResponse;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The bytes that a client and a server say to each other for one inference, and a loop that says the very same and does
 * nothing else: the cost of a socket, without a client. For one thread.
 */
final class RecordedExchange implements AutoCloseable {
    private final SocketChannel channel;
    private final ByteBuffer request;
    private final ByteBuffer answer;

    private RecordedExchange(SocketChannel channel, byte[] request, byte[] answer) {
        this.channel = channel;
        this.request = ByteBuffer.allocateDirect(request.length).put(request);
        this.answer = ByteBuffer.allocateDirect(answer.length);
    }

    /** Listens in on {@code asked}, which goes to the server behind {@code socket}. */
    static RecordedExchange of(Path socket, Path scratch, InferRequest asked) throws IOException, InterruptedException {
        Path tapped = scratch.resolve("tap.sock");
        ByteArrayOutputStream sent = new ByteArrayOutputStream();
        ByteArrayOutputStream received = new ByteArrayOutputStream();
        try (ServerSocketChannel tap =
                ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of(tapped))) {
            Thread relay = Thread.ofPlatform().daemon().start(() -> relay(tap, socket, sent, received));
            try (GatunClient client = GatunClient.connect("unix:" + tapped);
                    InferResponse response = client.infer(asked)) {
                if (response.model().isEmpty()) {
                    throw new IllegalStateException("the answer names no model");
                }
            }
            relay.join();
        } finally {
            Files.deleteIfExists(tapped);
        }
        return new RecordedExchange(
                SocketChannel.open(UnixDomainSocketAddress.of(socket)), sent.toByteArray(), received.toByteArray());
    }

    /** Says it all once more, and reads as many bytes as were answered then. */
    void call() throws IOException {
        request.flip();
        while (request.hasRemaining()) {
            channel.write(request);
        }
        answer.clear();
        while (answer.hasRemaining()) {
            if (channel.read(answer) < 0) {
                throw new IOException("the server closed the connection");
            }
        }
    }

    long requestBytes() {
        return request.capacity();
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    private static void relay(
            ServerSocketChannel tap, Path socket, ByteArrayOutputStream sent, ByteArrayOutputStream received) {
        try (SocketChannel client = tap.accept();
                SocketChannel server = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
            Thread back = Thread.ofPlatform().daemon().start(() -> pump(server, client, received));
            pump(client, server, sent);
            server.shutdownOutput();
            back.join();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void pump(SocketChannel from, SocketChannel to, ByteArrayOutputStream copy) {
        ByteBuffer bytes = ByteBuffer.allocate(1 << 16);
        try {
            while (from.read(bytes) >= 0) {
                bytes.flip();
                copy.write(bytes.array(), 0, bytes.limit());
                while (bytes.hasRemaining()) {
                    to.write(bytes);
                }
                bytes.clear();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
