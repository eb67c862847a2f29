package gatun.server;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http2.hpack.HpackDecoder;
import org.eclipse.jetty.http2.hpack.HpackException;

/** One call on an HTTP/2 connection of its own, byte by byte: for messages that no client library would send. */
final class RawGrpc implements AutoCloseable {
    private static final int LIMIT_MILLIS = 20_000;
    private static final int DATA = 0;
    private static final int HEADERS = 1;
    private static final int SETTINGS = 4;
    private static final int END_STREAM = 1;
    private static final int END_HEADERS = 4;
    private static final int STREAM = 1;

    private final Socket socket;
    private final DataInputStream in;
    private final DataOutputStream out;

    private RawGrpc(Socket socket) throws IOException {
        this.socket = socket;
        this.in = new DataInputStream(socket.getInputStream());
        this.out = new DataOutputStream(socket.getOutputStream());
    }

    /** Begins a call of a method of the v2 service. */
    static RawGrpc call(InetSocketAddress address, String method) throws IOException {
        Socket socket = new Socket(address.getAddress(), address.getPort());
        socket.setSoTimeout(LIMIT_MILLIS);
        RawGrpc call = new RawGrpc(socket);
        call.out.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(US_ASCII));
        call.frame(SETTINGS, 0, 0);
        ByteArrayOutputStream block = new ByteArrayOutputStream();
        field(block, ":method", "POST");
        field(block, ":scheme", "http");
        field(block, ":path", "/inference.GRPCInferenceService/" + method);
        field(block, ":authority", "localhost");
        field(block, "content-type", "application/grpc");
        field(block, "te", "trailers");
        call.frame(HEADERS, END_HEADERS, STREAM, block.toByteArray());
        return call;
    }

    /** A header as HPACK's literal without indexing; both texts are shorter than 127 bytes. */
    private static void field(ByteArrayOutputStream block, String name, String value) {
        block.write(0);
        block.write(name.length());
        block.writeBytes(name.getBytes(US_ASCII));
        block.write(value.length());
        block.writeBytes(value.getBytes(US_ASCII));
    }

    /** Sends what a message begins with: its length as announced, and as much of it as is given. */
    RawGrpc message(int announced, byte... bytes) throws IOException {
        frame(
                DATA,
                0,
                STREAM,
                ByteBuffer.allocate(5 + bytes.length)
                        .put((byte) 0)
                        .putInt(announced)
                        .put(bytes)
                        .array());
        return this;
    }

    /** Says that no more comes. */
    RawGrpc end() throws IOException {
        frame(DATA, END_STREAM, STREAM);
        return this;
    }

    private void frame(int type, int flags, int stream, byte... payload) throws IOException {
        out.writeInt(payload.length << 8 | type);
        out.write(flags);
        out.writeInt(stream);
        out.write(payload);
        out.flush();
    }

    /** Reads up to the trailers of the call. */
    HttpFields awaitTrailers() throws IOException {
        HpackDecoder hpack = new HpackDecoder(1 << 16, System::nanoTime);
        while (true) {
            int lengthAndType = in.readInt();
            int flags = in.readUnsignedByte();
            in.readInt();
            ByteBuffer payload = ByteBuffer.wrap(in.readNBytes(lengthAndType >>> 8));
            if ((lengthAndType & 0xff) != HEADERS) {
                continue;
            }
            try {
                HttpFields fields = hpack.decode(payload).getHttpFields();
                if ((flags & END_STREAM) != 0) {
                    return fields;
                }
            } catch (HpackException e) {
                throw new AssertionError("the server's headers cannot be read", e);
            }
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
