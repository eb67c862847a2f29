// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.grpc.frames.Http2;
import gatun.grpc.frames.Http2Error;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http2.hpack.HpackDecoder;
import org.eclipse.jetty.http2.hpack.HpackException;

/** A client that writes the frames it is told to, right or wrong. Every read has a deadline. */
public final class RawClient implements AutoCloseable {
    /** A frame as it came. */
    record Frame(int type, int flags, int streamId, ByteBuffer payload) {
        int payloadInt(int offset) {
            return payload.getInt(offset);
        }

        boolean endsStream() {
            return (flags & Http2.FLAG_END_STREAM) != 0;
        }

        /** Whether this tells that the connection ends for that reason. */
        boolean isGoAway(Http2Error error) {
            return type == Http2.GOAWAY && payloadInt(4) == error.code();
        }

        boolean isReset(int id, Http2Error error) {
            return type == Http2.RST_STREAM && streamId == id && payloadInt(0) == error.code();
        }
    }

    private static final int TIMEOUT_MILLIS = 10_000;

    private final Socket socket;
    private final DataInputStream in;

    /** A full socket takes a part of a frame; nobody else's may follow that. */
    private final ReentrantLock writing = new ReentrantLock();

    private final HpackDecoder hpack = new HpackDecoder(1 << 20, System::nanoTime);

    private RawClient(Socket socket) throws IOException {
        this.socket = socket;
        socket.setSoTimeout(TIMEOUT_MILLIS);
        socket.setTcpNoDelay(true);
        this.in = new DataInputStream(socket.getInputStream());
    }

    /** Connects and says nothing. */
    static RawClient silent(TestServer server) throws IOException {
        return new RawClient(new Socket(InetAddress.getLoopbackAddress(), server.port()));
    }

    /** Connects and greets with empty SETTINGS. */
    static RawClient connect(TestServer server) throws IOException {
        RawClient client = silent(server);
        client.write(Http2.preface());
        client.frame(Http2.SETTINGS, 0, 0);
        return client;
    }

    void write(byte... bytes) {
        writing.lock();
        try {
            socket.getOutputStream().write(bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            writing.unlock();
        }
    }

    void frame(int type, int flags, int streamId, byte... payload) {
        write(frameBytes(type, flags, streamId, payload));
    }

    /** A frame as it is sent. */
    static byte[] frameBytes(int type, int flags, int streamId, byte... payload) {
        return ByteBuffer.allocate(Http2.FRAME_HEADER_SIZE + payload.length)
                .putInt(payload.length << 8 | type)
                .put((byte) flags)
                .putInt(streamId)
                .put(payload)
                .array();
    }

    /** HEADERS that open a call of {@code method}, with more fields besides. */
    void call(int streamId, boolean endStream, String method, String... moreFields) {
        int flags = Http2.FLAG_END_HEADERS | (endStream ? Http2.FLAG_END_STREAM : 0);
        frame(Http2.HEADERS, flags, streamId, callBlock(method, moreFields));
    }

    /** The block of {@link #call}: every field a literal with a literal name, as C-core clients write them. */
    static byte[] callBlock(String method, String... moreFields) {
        ByteArrayOutputStream block = new ByteArrayOutputStream();
        String[] fields = {
            ":method",
            "POST",
            ":scheme",
            "http",
            ":path",
            "/" + EchoService.NAME + "/" + method,
            ":authority",
            "test",
            "content-type",
            "application/grpc",
            "te",
            "trailers"
        };
        block.writeBytes(literals(fields));
        block.writeBytes(literals(moreFields));
        return block.toByteArray();
    }

    /** Fields as HPACK literals without indexing. */
    public static byte[] literals(String... namesAndValues) {
        ByteArrayOutputStream block = new ByteArrayOutputStream();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            block.write(0);
            literal(block, namesAndValues[i]);
            literal(block, namesAndValues[i + 1]);
        }
        return block.toByteArray();
    }

    private static void literal(ByteArrayOutputStream block, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
        int length = bytes.length;
        if (length < 127) {
            block.write(length);
        } else {
            block.write(127);
            for (length -= 127; length >= 128; length >>>= 7) {
                block.write((length & 127) | 128);
            }
            block.write(length);
        }
        block.writeBytes(bytes);
    }

    /** DATA that carries one whole message. */
    void message(int streamId, boolean endStream, byte... message) {
        frame(Http2.DATA, endStream ? Http2.FLAG_END_STREAM : 0, streamId, prefixed(message));
    }

    static byte[] prefixed(byte... message) {
        return ByteBuffer.allocate(5 + message.length)
                .put((byte) 0)
                .putInt(message.length)
                .put(message)
                .array();
    }

    void windowUpdate(int streamId, int increment) {
        frame(Http2.WINDOW_UPDATE, 0, streamId, ints(increment));
    }

    static byte[] ints(int... values) {
        ByteBuffer bytes = ByteBuffer.allocate(4 * values.length);
        for (int value : values) {
            bytes.putInt(value);
        }
        return bytes.array();
    }

    /** One setting as SETTINGS carries it. */
    static byte[] setting(int id, int value) {
        return ByteBuffer.allocate(6).putShort((short) id).putInt(value).array();
    }

    Frame read() {
        try {
            int lengthAndType = in.readInt();
            int flags = in.readUnsignedByte();
            int streamId = in.readInt();
            byte[] payload = in.readNBytes(lengthAndType >>> 8);
            return new Frame(lengthAndType & 0xff, flags, streamId, ByteBuffer.wrap(payload));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Reads up to the first frame that is wanted. */
    Frame await(Predicate<Frame> wanted) {
        Frame frame = read();
        while (!wanted.test(frame)) {
            frame = read();
        }
        return frame;
    }

    /** Reads up to HEADERS of that stream and decodes them; blocks must be awaited in the order in which they come. */
    HttpFields headers(int streamId) {
        Frame frame = await(f -> f.type() == Http2.HEADERS);
        if (frame.streamId() != streamId) {
            throw new AssertionError("headers of stream " + frame.streamId() + " instead of " + streamId);
        }
        return fields(frame);
    }

    /** Decodes HEADERS; all blocks must be decoded in the order in which they come. */
    HttpFields fields(Frame headers) {
        try {
            return hpack.decode(headers.payload()).getHttpFields();
        } catch (HpackException e) {
            throw new AssertionError(e);
        }
    }

    /** Whether the connection still answers, all earlier frames being dealt with. */
    boolean isAlive() {
        frame(Http2.PING, 0, 0, ints(1, 2));
        try {
            await(f -> f.type() == Http2.PING && (f.flags() & Http2.FLAG_ACK) != 0 && f.payloadInt(4) == 2);
            return true;
        } catch (UncheckedIOException e) {
            return false;
        }
    }

    /** Whether no byte comes for so long. */
    boolean isSilentFor(Duration time) throws IOException {
        socket.setSoTimeout((int) time.toMillis());
        try {
            in.readByte();
            return false;
        } catch (SocketTimeoutException e) {
            return true;
        } finally {
            socket.setSoTimeout(TIMEOUT_MILLIS);
        }
    }

    /** Reads to the end of the connection. */
    void awaitEnd() throws IOException {
        try {
            while (true) {
                read();
            }
        } catch (UncheckedIOException e) {
            if (!(e.getCause() instanceof EOFException)) {
                throw e.getCause();
            }
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }

    /** Makes a call as {@code streamId} that must be answered by what it sends. */
    void assertEchoes(int streamId) {
        call(streamId, false, "Unary");
        message(streamId, true, (byte) 42);
        assertThat(headers(streamId).get("content-type")).isEqualTo("application/grpc");
        assertThat(await(f -> f.type() == Http2.DATA).payload()).isEqualTo(ByteBuffer.wrap(prefixed((byte) 42)));
        assertThat(headers(streamId).get("grpc-status")).isEqualTo("0");
    }
}
