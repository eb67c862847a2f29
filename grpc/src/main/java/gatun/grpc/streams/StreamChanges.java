// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.streams;

import gatun.grpc.frames.FrameWriter;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/** Changes to a stream under the writer's lock, merged by kind, whatever a client sends. Any thread adds. */
final class StreamChanges implements FrameWriter.Control {
    private final GrpcStream stream;
    private final AtomicBoolean waiting = new AtomicBoolean();
    private final AtomicLong growth = new AtomicLong();
    private final AtomicInteger announcement = new AtomicInteger();
    private final AtomicReference<FrameWriter.Control> end = new AtomicReference<>();

    StreamChanges(GrpcStream stream) {
        this.stream = stream;
    }

    void grow(FrameWriter writer, int increment) {
        growth.addAndGet(increment);
        enqueue(writer);
    }

    /** The client is to be told that it may send {@code increment} more bytes. */
    void announce(FrameWriter writer, int increment) {
        announcement.addAndGet(increment);
        enqueue(writer);
    }

    /** The stream ends so, unless another end waits already. */
    void end(FrameWriter writer, FrameWriter.Control lastWords) {
        if (end.compareAndSet(null, lastWords)) {
            enqueue(writer);
        }
    }

    private void enqueue(FrameWriter writer) {
        if (waiting.compareAndSet(false, true)) {
            writer.enqueue(this);
        }
    }

    @Override
    public void apply(FrameWriter writer) throws IOException {
        waiting.set(false);
        long grown = growth.getAndSet(0);
        if (grown > 0) {
            stream.applyGrowth(writer, grown);
        }
        int announced = announcement.getAndSet(0);
        if (announced > 0) {
            stream.applyAnnouncement(writer, announced);
        }
        FrameWriter.Control lastWords = end.getAndSet(null);
        if (lastWords != null) {
            lastWords.apply(writer);
        }
    }
}
