// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.grpc;

import gatun.grpc.message.TextCache;
import gatun.grpc.message.WireReader;
import gatun.grpc.message.WireReader.LimitedReader;
import gatun.runtime.limits.RequestLimits;
import gatun.runtime.limits.WorkBudgets.HeapBudget;
import gatun.tensorflow.serving.Servable;
import java.lang.foreign.MemorySegment;

/** Reads the messages of requests with examples, whose number and content make no object. Thread-safe. */
final class ExampleDecoder {
    // Field numbers of ClassificationRequest and RegressionRequest.
    private static final int MODEL_SPEC = 1;

    // Field numbers of MultiInferenceRequest and InferenceTask.
    private static final int TASKS = 1;
    private static final int TASK_MODEL_SPEC = 1;
    private static final int TASK_METHOD_NAME = 2;

    private final RequestLimits limits;
    private final HeapBudget heap;
    private final TextCache texts = new TextCache();
    private final ServableReader servables = new ServableReader(texts);

    private interface Field {
        /** Reads the first field of a message, which fills the reader's window. */
        void read(LimitedReader in, ExampleMessage message);
    }

    /** Takes memory beyond that of usual messages from {@code heap}. */
    ExampleDecoder(RequestLimits limits, HeapBudget heap) {
        this.limits = limits;
        this.heap = heap;
    }

    /**
     * Reads a ClassificationRequest or RegressionRequest; the caller sets the hold. Throws INVALID_ARGUMENT when
     * malformed, RESOURCE_EXHAUSTED beyond a limit, UNAVAILABLE when other requests have taken the heap.
     */
    ExampleMessage decode(MemorySegment bytes) {
        return decode(bytes, MODEL_SPEC, (in, message) -> {
            message.servable = servables.read(in, message.servable);
            message.hasServable = true;
        });
    }

    /** Reads a MultiInferenceRequest; as {@link #decode}. */
    ExampleMessage decodeTasks(MemorySegment bytes) {
        return decode(bytes, TASKS, (in, message) -> message.tasks.add(task(in)));
    }

    private ExampleMessage decode(MemorySegment bytes, int number, Field field) {
        LimitedReader in = new LimitedReader(bytes, limits, heap);
        try {
            ExampleMessage message = new ExampleMessage(bytes);
            while (in.hasMore()) {
                int tag = in.tag();
                if (tag != (number << 3 | WireReader.LENGTH_DELIMITED)) {
                    in.skip(tag);
                    continue;
                }
                int length = in.length();
                int end = in.position() + length;
                int limit = in.limit();
                in.window(in.position(), end);
                field.read(in, message);
                in.window(end, limit);
            }
            message.reserve(in.takeReservation());
            return message;
        } finally {
            in.takeReservation().close();
        }
    }

    private ExampleMessage.Task task(LimitedReader in) {
        // Each is an inference with an input of its own.
        in.countInput();
        Servable servable = ServableReader.NOTHING;
        String method = "";
        int limit = in.limit();
        while (in.hasMore()) {
            int tag = in.tag();
            if (WireReader.type(tag) != WireReader.LENGTH_DELIMITED) {
                in.skip(tag);
                continue;
            }
            int length = in.length();
            int start = in.position();
            switch (WireReader.field(tag)) {
                case TASK_MODEL_SPEC -> {
                    in.window(start, start + length);
                    servable = servables.read(in, servable);
                }
                case TASK_METHOD_NAME -> method = in.text(texts, start, length, "a task's method");
                default -> {
                    // A field of a newer protocol.
                }
            }
            in.window(start + length, limit);
        }
        return new ExampleMessage.Task(servable, method);
    }
}
