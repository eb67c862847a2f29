// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import gatun.client.ClientOptions;
import gatun.client.GatunClient;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ServerSocketFactory;

/** A server that sends the bytes that a test wants. Plays its script on each connection, on a thread of its own. */
final class ScriptedServer implements AutoCloseable {
    private final ServerSocket listener;
    private final String scheme;
    private final Script script;
    private final AtomicInteger connections = new AtomicInteger();
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();

    private ScriptedServer(ServerSocketFactory sockets, String scheme, Script script) {
        try {
            this.listener = sockets.createServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        this.scheme = scheme;
        this.script = script;
    }

    /** The script of a connection, which is closed at the end. */
    @FunctionalInterface
    interface Script {
        void play(Conversation conversation) throws Exception;
    }

    /** A request as it came, each byte a letter. */
    record Request(String head, String body) {
        /** The value of a header. */
        Optional<String> header(String name) {
            return ResponseHead.field(head, name);
        }

        String requestLine() {
            return head.substring(0, head.indexOf('\r'));
        }
    }

    static ScriptedServer start(Script script) {
        return start(ServerSocketFactory.getDefault(), "http", script);
    }

    static ScriptedServer start(ServerSocketFactory sockets, String scheme, Script script) {
        ScriptedServer server = new ScriptedServer(sockets, scheme, script);
        Thread.ofVirtual().start(server::accept);
        return server;
    }

    /** Says the same to each request, and keeps connections open. */
    static ScriptedServer saying(String response) {
        return start(conversation -> {
            while (conversation.read().isPresent()) {
                conversation.say(response);
            }
        });
    }

    /** Says this to the first request of each connection, and closes it. */
    static ScriptedServer sayingOnce(byte[] response) {
        return start(conversation -> {
            conversation.read();
            conversation.say(response);
        });
    }

    String url() {
        return scheme + "://localhost:" + listener.getLocalPort();
    }

    GatunClient client() {
        return GatunClient.connect(url());
    }

    ClientOptions options() {
        return ClientOptions.of(url());
    }

    /** How many were accepted. */
    int connections() {
        return connections.get();
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                Socket socket = listener.accept();
                connections.incrementAndGet();
                open.add(socket);
                Thread.ofVirtual().start(() -> play(socket));
            } catch (IOException e) {
                // Closed, or a handshake that failed: the client tells of it.
            }
        }
    }

    private void play(Socket socket) {
        try (socket) {
            script.play(new Conversation(socket));
        } catch (Exception e) {
            // The client went away, which it may, or it reports the error itself.
            return;
        } finally {
            open.remove(socket);
        }
    }

    @Override
    public void close() throws IOException {
        listener.close();
        for (Socket socket : open) {
            socket.close();
        }
    }

    /** One connection. */
    static final class Conversation {
        private final Socket socket;
        private final InputStream in;

        Conversation(Socket socket) throws IOException {
            this.socket = socket;
            this.in = new BufferedInputStream(socket.getInputStream());
        }

        /** Reads a request's head; empty when the client closed the connection. */
        String readHead() throws IOException {
            StringBuilder head = new StringBuilder();
            while (head.indexOf("\r\n\r\n") < 0) {
                int letter = in.read();
                if (letter < 0) {
                    return "";
                }
                head.append((char) letter);
            }
            return head.toString();
        }

        /** Reads a request; nothing when the client closed the connection. */
        Optional<Request> read() throws IOException {
            String head = readHead();
            if (head.isEmpty()) {
                return Optional.empty();
            }
            int length = ResponseHead.field(head, "content-length")
                    .map(Integer::parseInt)
                    .orElse(0);
            byte[] body = in.readNBytes(length);
            return body.length < length
                    ? Optional.empty()
                    : Optional.of(new Request(head, new String(body, ISO_8859_1)));
        }

        void say(String text) throws IOException {
            say(text.getBytes(ISO_8859_1));
        }

        void say(byte[] bytes) throws IOException {
            socket.getOutputStream().write(bytes);
            socket.getOutputStream().flush();
        }

        /** Waits until the client closes the connection. */
        void awaitEnd() throws IOException {
            while (in.read() >= 0) {
                // Further bytes do not matter.
            }
        }

        /** Says no more, and goes on to listen. */
        void finish() throws IOException {
            socket.shutdownOutput();
        }

        /** Closes so that the client sees a reset. */
        void reset() throws IOException {
            socket.setSoLinger(true, 0);
            socket.close();
        }
    }

    /** A whole response of status 200. */
    static String ok(String body, String... headers) {
        return answer("200 OK", body, headers);
    }

    /** A whole response. */
    static String answer(String status, String body, String... headers) {
        StringBuilder text = new StringBuilder("HTTP/1.1 ").append(status).append("\r\n");
        for (String header : headers) {
            text.append(header).append("\r\n");
        }
        return text.append("Content-Length: ")
                .append(body.length())
                .append("\r\n\r\n")
                .append(body)
                .toString();
    }
}
