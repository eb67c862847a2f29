// SPDX-License-Identifier: Apache-2.0
package gatun.workers;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/** The JVM worker's side of the pipes to the server. Sending is thread-safe. */
public final class WorkerChannel {
    private final InputStream input;
    private final OutputStream output;

    /** Guards the writer and the order of frames. */
    private final ReentrantLock sending = new ReentrantLock();

    private final FrameWriter writer = new FrameWriter();

    /** Hears what the server says. */
    @FunctionalInterface
    public interface Listener {
        /** Takes a frame, which is valid until this returns. */
        void frame(int kind, FrameReader frame);
    }

    /** The channel between two pipes. */
    public WorkerChannel(InputStream input, OutputStream output) {
        this.input = input;
        this.output = output;
    }

    /** Has {@code listener} hear what the server says; returns when the server closes the pipe, or has ended. */
    public void read(Listener listener) {
        try (FrameInput frames = new FrameInput("server", input)) {
            while (frames.next()) {
                listener.frame(frames.kind(), frames.body());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Sends a frame. Throws {@link UncheckedIOException} when the server has ended. */
    public void send(int kind, Consumer<FrameWriter> body) {
        sending.lock();
        try {
            writer.begin(kind);
            body.accept(writer);
            ByteBuffer frame = writer.end();
            output.write(frame.array(), frame.arrayOffset(), frame.limit());
            output.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            sending.unlock();
        }
    }
}
