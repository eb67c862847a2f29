// SPDX-License-Identifier: Apache-2.0
package gatun.it.harness;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.List;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http2.hpack.HpackDecoder;
import org.eclipse.jetty.http2.hpack.HpackException;

/**
 * Calls, one after the other, on an HTTP/2 connection of their own, byte by byte: for what no client library would
 * send.
 */
public final class RawGrpc implements AutoCloseable {
    private static final int LIMIT_MILLIS = 20_000;
    private static final int DATA = 0;
    private static final int HEADERS = 1;
    private static final int SETTINGS = 4;
    private static final int GOAWAY = 7;
    private static final int END_STREAM = 1;
    private static final int END_HEADERS = 4;

    private final Socket socket;
    private List<String> authorities;
    private final List<String> hosts;
    private final DataInputStream in;
    private final DataOutputStream out;
    private final HpackDecoder hpack = new HpackDecoder(1 << 16, System::nanoTime);

    /** The present call. */
    private int stream = 1;

    private RawGrpc(Socket socket, List<String> authorities, List<String> hosts) throws IOException {
        this.socket = socket;
        this.authorities = authorities;
        this.hosts = hosts;
        this.in = new DataInputStream(socket.getInputStream());
        this.out = new DataOutputStream(socket.getOutputStream());
    }

    /** Begins a call of a method of the v2 service. */
    public static RawGrpc call(InetSocketAddress address, String method) throws IOException {
        return call(address, method, List.of("localhost"), List.of());
    }

    /**
     * The same for any hosts.
     *
     * @param authorities the fields {@code :authority}
     * @param hosts the fields for it of HTTP/1.1
     */
    public static RawGrpc call(InetSocketAddress address, String method, List<String> authorities, List<String> hosts)
            throws IOException {
        Socket socket = new Socket(address.getAddress(), address.getPort());
        socket.setSoTimeout(LIMIT_MILLIS);
        RawGrpc call = new RawGrpc(socket, authorities, hosts);
        call.out.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(US_ASCII));
        call.frame(SETTINGS, 0, 0);
        call.begin(method);
        return call;
    }

    /** Begins one more call, beside those that have not ended. */
    public void next(String method) throws IOException {
        next(method, authorities.getFirst());
    }

    /** The same for another host. */
    public void next(String method, String authority) throws IOException {
        authorities = List.of(authority);
        stream += 2;
        begin(method);
    }

    private void begin(String method) throws IOException {
        ByteArrayOutputStream block = new ByteArrayOutputStream();
        field(block, ":method", "POST");
        field(block, ":scheme", "http");
        field(block, ":path", "/inference.GRPCInferenceService/" + method);
        authorities.forEach(authority -> field(block, ":authority", authority));
        field(block, "content-type", "application/grpc");
        field(block, "te", "trailers");
        hosts.forEach(host -> field(block, "host", host));
        frame(HEADERS, END_HEADERS, stream, block.toByteArray());
    }

    /** A header as HPACK's literal without indexing; both texts are shorter than 127 bytes. */
    private static void field(ByteArrayOutputStream block, String name, String value) {
        block.write(0);
        block.write(name.length());
        block.writeBytes(name.getBytes(US_ASCII));
        block.write(value.length());
        block.writeBytes(value.getBytes(US_ASCII));
    }

    /** Sends the beginning of a message: its length as announced, and the bytes that are given. */
    public RawGrpc message(int announced, byte... bytes) throws IOException {
        frame(
                DATA,
                0,
                stream,
                ByteBuffer.allocate(5 + bytes.length)
                        .put((byte) 0)
                        .putInt(announced)
                        .put(bytes)
                        .array());
        return this;
    }

    /** Says that no more comes. */
    public RawGrpc end() throws IOException {
        frame(DATA, END_STREAM, stream);
        return this;
    }

    private void frame(int type, int flags, int on, byte... payload) throws IOException {
        out.writeInt(payload.length << 8 | type);
        out.write(flags);
        out.writeInt(on);
        out.write(payload);
        out.flush();
    }

    /** Reads up to the trailers of the present call. */
    public HttpFields awaitTrailers() throws IOException {
        while (true) {
            Frame frame = read();
            if (frame.type() == HEADERS && frame.stream() == stream && (frame.flags() & END_STREAM) != 0) {
                return frame.fields();
            }
        }
    }

    /**
     * Reads until the server says that it takes no new calls. The request that the server makes with that is never
     * answered.
     */
    public void awaitGoAway() throws IOException {
        for (Frame frame = read(); frame.type() != GOAWAY; frame = read()) {
            // Other frames are skipped.
        }
    }

    /** A frame, with the fields of its headers. */
    private record Frame(int type, int flags, int stream, HttpFields fields) {}

    private Frame read() throws IOException {
        int lengthAndType = in.readInt();
        int flags = in.readUnsignedByte();
        int on = in.readInt();
        ByteBuffer payload = ByteBuffer.wrap(in.readNBytes(lengthAndType >>> 8));
        int type = lengthAndType & 0xff;
        try {
            HttpFields fields = type == HEADERS ? hpack.decode(payload).getHttpFields() : HttpFields.EMPTY;
            return new Frame(type, flags, on, fields);
        } catch (HpackException e) {
            throw new AssertionError("the server's headers cannot be read", e);
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
