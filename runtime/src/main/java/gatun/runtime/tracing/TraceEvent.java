// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.tracing;

import gatun.memory.tensor.TensorSpec;
import java.lang.foreign.MemorySegment;

/** An event of a request's trace. */
public sealed interface TraceEvent {
    /**
     * The request reached a stage.
     *
     * @param stage which one
     * @param nanos when, as a reading of {@link System#nanoTime}
     */
    record Timestamp(TraceStage stage, long nanos) implements TraceEvent {}

    /**
     * A backend told something of its own.
     *
     * @param name what it calls it
     * @param nanos when, as a reading of {@link System#nanoTime}
     */
    record Activity(String name, long nanos) implements TraceEvent {}

    /**
     * A tensor came by.
     *
     * @param activity where, such as {@code TENSOR_QUEUE_INPUT}
     * @param spec name, datatype and shape of the tensor
     * @param bytes a copy of its bytes on the heap; none when there was no room for them
     */
    record TensorData(String activity, TensorSpec spec, MemorySegment bytes) implements TraceEvent {}
}
