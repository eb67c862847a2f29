// SPDX-License-Identifier: Apache-2.0
package gatun.testing.attacks;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.eclipse.jetty.http2.hpack.HpackDecoder;
import org.eclipse.jetty.http2.hpack.HpackException;

/**
 * One HTTP/2 connection that sends frames as it is told to. Not thread-safe, but that one thread may send while another
 * reads.
 */
public final class Http2Attacker implements AutoCloseable {
    // Types of frames and their flags, as HTTP/2 numbers them.
    static final int DATA = 0;
    static final int HEADERS = 1;
    static final int RST_STREAM = 3;
    static final int SETTINGS = 4;
    static final int PING = 6;
    static final int GOAWAY = 7;
    static final int WINDOW_UPDATE = 8;
    static final int END_STREAM = 1;
    static final int END_HEADERS = 4;

    private static final String INFER = "/inference.GRPCInferenceService/ModelInfer";
    private static final int FRAME_BYTES = 16 << 10;
    private static final int LIMIT_MILLIS = 60_000;

    private final Socket socket;
    private final DataInputStream in;
    private final DataOutputStream out;
    private final HpackDecoder hpack = new HpackDecoder(1 << 16, System::nanoTime);
    private final SendWindow window = new SendWindow();

    /** Connects and sends the preface and settings. */
    public Http2Attacker(InetSocketAddress address) throws IOException {
        socket = new Socket(address.getAddress(), address.getPort());
        socket.setSoTimeout(LIMIT_MILLIS);
        in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
        out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream(), 64 << 10));
        out.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(US_ASCII));
        frame(SETTINGS, 0, 0);
        // Much more than any response, so that windows do not matter.
        frame(WINDOW_UPDATE, 0, 0, ByteBuffer.allocate(4).putInt(1 << 30).array());
        flush();
    }

    /** Puts a frame into the send buffer. */
    public void frame(int type, int flags, int stream, byte... payload) throws IOException {
        out.writeInt(payload.length << 8 | type);
        out.write(flags);
        out.writeInt(stream);
        out.write(payload);
    }

    /** Sends the buffer. */
    public void flush() throws IOException {
        out.flush();
    }

    /** Begins a call of ModelInfer. */
    public void call(int stream) throws IOException {
        ByteArrayOutputStream block = new ByteArrayOutputStream();
        field(block, ":method", "POST");
        field(block, ":scheme", "http");
        field(block, ":path", INFER);
        field(block, ":authority", "localhost");
        field(block, "content-type", "application/grpc");
        field(block, "te", "trailers");
        frame(HEADERS, END_HEADERS, stream, block.toByteArray());
    }

    /** Begins a message of {@code byteSize} bytes and sends nothing of it. */
    public void announce(int stream, long byteSize) throws IOException {
        frame(DATA, 0, stream, ByteBuffer.allocate(5).putInt(1, (int) byteSize).array());
    }

    /**
     * Calls ModelInfer with a message of any length, within the windows that the server opens, and returns the status
     * that it gives.
     */
    public String infer(RepeatedBody message) throws IOException {
        call(1);
        announce(1, message.byteSize());
        Thread sender = Thread.ofVirtual().start(() -> {
            try (DataFrames frames = new DataFrames()) {
                message.writeTo(frames);
            } catch (IOException e) {
                // The server has said enough.
            }
        });
        String outcome = outcome(1);
        window.shut();
        socket.close();
        try {
            sender.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return outcome;
    }

    /**
     * Reads until the call ends or the connection does. Returns the number of gRPC's status, or what {@link #end}
     * returns.
     */
    public String outcome(int stream) {
        try {
            while (true) {
                Frame frame = read();
                if (frame.type() == GOAWAY && frame.code() != 0) {
                    return "GOAWAY " + frame.code();
                }
                if (frame.stream() == stream && frame.type() == RST_STREAM) {
                    return "RST_STREAM " + frame.code();
                }
                if (frame.stream() == stream && frame.type() == HEADERS && (frame.flags() & END_STREAM) != 0) {
                    return frame.grpcStatus();
                }
            }
        } catch (IOException e) {
            return HttpAttacker.CLOSED;
        }
    }

    /** Reads until the connection ends; returns {@code GOAWAY} with its number, or {@link HttpAttacker#CLOSED}. */
    public String end() {
        try {
            while (true) {
                Frame frame = read();
                if (frame.type() == GOAWAY) {
                    return "GOAWAY " + frame.code();
                }
            }
        } catch (IOException e) {
            return HttpAttacker.CLOSED;
        }
    }

    private static void field(ByteArrayOutputStream block, String name, String value) {
        block.write(0);
        block.write(name.length());
        block.writeBytes(name.getBytes(US_ASCII));
        block.write(value.length());
        block.writeBytes(value.getBytes(US_ASCII));
    }

    private record Frame(int type, int flags, int stream, int code, String grpcStatus) {}

    private Frame read() throws IOException {
        int lengthAndType = in.readInt();
        int flags = in.readUnsignedByte();
        int stream = in.readInt();
        byte[] payload = in.readNBytes(lengthAndType >>> 8);
        int type = lengthAndType & 0xff;
        if (type == SETTINGS) {
            window.settings(ByteBuffer.wrap(payload));
        } else if (type == WINDOW_UPDATE) {
            window.grow(stream, ByteBuffer.wrap(payload).getInt());
        }
        if (type == DATA && payload.length > 0 && stream != 0) {
            return new Frame(type, flags, stream, 0, "");
        }
        int code =
                switch (type) {
                    case GOAWAY -> ByteBuffer.wrap(payload).getInt(4);
                    case RST_STREAM -> ByteBuffer.wrap(payload).getInt();
                    default -> 0;
                };
        return new Frame(type, flags, stream, code, type == HEADERS ? grpcStatus(payload) : "");
    }

    private String grpcStatus(byte[] block) throws IOException {
        try {
            String status = hpack.decode(ByteBuffer.wrap(block)).getHttpFields().get("grpc-status");
            return status == null ? "" : status;
        } catch (HpackException e) {
            throw new IOException("the server's headers cannot be read", e);
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }

    /** Cuts the written bytes into frames of stream 1, the last of which ends it. */
    private final class DataFrames extends OutputStream {
        private final byte[] frame = new byte[FRAME_BYTES];
        private int size;

        @Override
        public void write(int b) throws IOException {
            frame[size++] = (byte) b;
            if (size == frame.length) {
                send(0);
            }
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            int at = offset;
            int left = length;
            while (left > 0) {
                int here = Math.min(left, frame.length - size);
                System.arraycopy(bytes, at, frame, size, here);
                size += here;
                at += here;
                left -= here;
                if (size == frame.length) {
                    send(0);
                }
            }
        }

        private void send(int flags) throws IOException {
            window.take(size);
            frame(DATA, flags, 1, Arrays.copyOf(frame, size));
            size = 0;
            Http2Attacker.this.flush();
        }

        @Override
        public void close() throws IOException {
            send(END_STREAM);
        }
    }
}
