// SPDX-License-Identifier: Apache-2.0
package gatun.server.warmup;

import com.google.protobuf.MessageLite;
import java.io.IOException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/**
 * Calls of one method of gRPC with one message, each on a stream of its own or all on one. Responses have a window that
 * is never full, and their headers are not looked at.
 */
final class GrpcConversation implements WarmUpConnection {
    private static final int HEAD_BYTES = 9;
    private static final int PREFIX_BYTES = 5;
    private static final int LARGEST_FRAME = 16_384;
    private static final int FRAME_LENGTH_BYTES = 3;

    private static final int DATA = 0;
    private static final int HEADERS = 1;
    private static final int RST_STREAM = 3;
    private static final int SETTINGS = 4;
    private static final int PING = 6;
    private static final int GOAWAY = 7;
    private static final int WINDOW_UPDATE = 8;

    private static final int ACK = 1;
    private static final int END_STREAM = 1;
    private static final int END_HEADERS = 4;

    private static final byte[] PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final short INITIAL_WINDOW_SIZE = 4;
    private static final int LARGEST_WINDOW = Integer.MAX_VALUE;
    private static final int FIRST_WINDOW = 65_535;

    /** POST and http, by their numbers in HPACK's table. */
    private static final byte[] METHOD_AND_SCHEME = HexFormat.of().parseHex("8386");

    /** www.example.com in Huffman's code, as RFC 7541 has it in C.4.1. */
    private static final byte[] AUTHORITY = HexFormat.of().parseHex("8cf1e3c2e5f23a6ba0ab90f4ff");

    /** The five fields of the first headers, which both sides have remembered since. */
    private static final byte[] REMEMBERED = HexFormat.of().parseHex("c2c1c0bfbe");

    private static final int PATH = 4;
    private static final int AUTHORITY_NAME = 1;
    private static final int CONTENT_TYPE = 31;
    private static final int USER_AGENT = 58;
    private static final int NEW_NAME = 0;
    private static final int REMEMBER = 0x40;

    private final ClientSocket socket;
    private final boolean oneStream;
    private final byte[] firstHeaders;
    private final ByteBuffer data;
    private final ByteBuffer out;
    private int stream = -1;

    private GrpcConversation(ClientSocket socket, String path, byte[] message, boolean oneStream) {
        this.socket = socket;
        this.oneStream = oneStream;
        this.firstHeaders = firstHeaders(path);
        this.data = ByteBuffer.allocate(PREFIX_BYTES + message.length)
                .put((byte) 0)
                .putInt(message.length)
                .put(message)
                .flip();
        if (data.limit() > LARGEST_FRAME) {
            throw new IllegalArgumentException("a message of " + message.length + " bytes does not fit into a frame");
        }
        this.out = ByteBuffer.allocate(2 * HEAD_BYTES + firstHeaders.length + data.limit());
    }

    /** Connects. {@code message} is sent with each request, and has at most 16 KB. */
    static GrpcConversation begin(SocketAddress address, String method, MessageLite message, boolean oneStream)
            throws IOException {
        ClientSocket socket = ClientSocket.connect(address);
        try {
            GrpcConversation begun = new GrpcConversation(socket, "/" + method, message.toByteArray(), oneStream);
            begun.greet();
            return begun;
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    private void greet() throws IOException {
        ByteBuffer greeting =
                ByteBuffer.allocate(PREFACE.length + 2 * HEAD_BYTES + 6 + 4).put(PREFACE);
        frame(greeting, 6, SETTINGS, 0, 0);
        greeting.putShort(INITIAL_WINDOW_SIZE).putInt(LARGEST_WINDOW);
        frame(greeting, 4, WINDOW_UPDATE, 0, 0);
        greeting.putInt(LARGEST_WINDOW - FIRST_WINDOW);
        socket.write(greeting.flip());
    }

    private static byte[] firstHeaders(String path) {
        ByteBuffer block = ByteBuffer.allocate(256).put(METHOD_AND_SCHEME);
        field(block, PATH, path);
        block.put((byte) (REMEMBER | AUTHORITY_NAME)).put(AUTHORITY);
        field(block, CONTENT_TYPE, "application/grpc");
        block.put((byte) (REMEMBER | NEW_NAME));
        text(block, "te");
        text(block, "trailers");
        field(block, USER_AGENT, "gatun");
        byte[] headers = new byte[block.flip().remaining()];
        block.get(headers);
        return headers;
    }

    private static void field(ByteBuffer block, int name, String value) {
        block.put((byte) (REMEMBER | name));
        text(block, value);
    }

    /** A text of less than 127 bytes. */
    private static void text(ByteBuffer block, String text) {
        block.put((byte) text.length()).put(text.getBytes(StandardCharsets.US_ASCII));
    }

    private static void frame(ByteBuffer target, int length, int type, int flags, int stream) {
        target.putInt(length << Byte.SIZE | type).put((byte) flags).putInt(stream);
    }

    @Override
    public void send() throws IOException {
        out.clear();
        boolean first = stream < 0;
        if (first || !oneStream) {
            stream += 2;
            headers(first);
        }
        frame(out, data.limit(), DATA, oneStream ? 0 : END_STREAM, stream);
        out.put(data.rewind());
        socket.write(out.flip());
    }

    private void headers(boolean first) {
        int length = first ? firstHeaders.length : METHOD_AND_SCHEME.length + REMEMBERED.length;
        frame(out, length, HEADERS, END_HEADERS, stream);
        if (first) {
            out.put(firstHeaders);
        } else {
            out.put(METHOD_AND_SCHEME).put(REMEMBERED);
        }
    }

    /** Reads until a message has come, and, where each request has a stream of its own, until that has ended. */
    @Override
    public void receive() throws IOException {
        boolean told = false;
        boolean ended = false;
        while (!(told && (oneStream || ended))) {
            int length = socket.read(FRAME_LENGTH_BYTES);
            int type = socket.read();
            int flags = socket.read();
            int of = socket.read(Integer.BYTES);
            switch (type) {
                case RST_STREAM, GOAWAY -> throw new IOException("the server ended a stream or the connection");
                case SETTINGS, PING -> answer(length, type, flags);
                case DATA -> {
                    told |= of == stream && length > 0;
                    socket.skip(length);
                }
                default -> socket.skip(length);
            }
            ended = (type == DATA || type == HEADERS) && of == stream && (flags & END_STREAM) != 0;
            if (ended && !(told && !oneStream)) {
                throw new IOException("a call ended without a message");
            }
        }
    }

    private void answer(int length, int type, int flags) throws IOException {
        boolean ping = type == PING;
        long payload = 0;
        if (ping) {
            payload = Integer.toUnsignedLong(socket.read(Integer.BYTES)) << Integer.SIZE
                    | Integer.toUnsignedLong(socket.read(Integer.BYTES));
        } else {
            socket.skip(length);
        }
        if ((flags & ACK) != 0) {
            return;
        }
        ByteBuffer answer = ByteBuffer.allocate(HEAD_BYTES + Long.BYTES);
        frame(answer, ping ? Long.BYTES : 0, type, ACK, 0);
        if (ping) {
            answer.putLong(payload);
        }
        socket.write(answer.flip());
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
