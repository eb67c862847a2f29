// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.grpc;

import gatun.grpc.message.InferenceCall;
import gatun.grpc.message.RawMessage;
import gatun.memory.tensor.Hold;
import gatun.memory.tensor.Shape;
import gatun.tensorflow.serving.Servable;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A PredictRequest as it was read: well formed, but not yet checked against anything. Tensor data stays where it is, in
 * the message's own memory. Owns that memory until {@link #takeOwnership()}; one thread uses it at a time.
 */
final class PredictMessage implements InferenceCall.Message {
    /** A TensorProto: the tensor's description, and its place in the message. */
    static final class TensorField {
        String name = "";

        /** TensorFlow's number of the datatype. */
        int dtype;

        /** The shape; empty where it has a rank or dimensions that no tensor has. */
        Optional<Shape> shape = Optional.of(Shape.of());

        /** Where the TensorProto begins and ends; its typed values lie somewhere there. */
        int start;

        int end;

        /** Where tensor_content begins, and how long it is; 0 for none. */
        int contentStart;

        int contentLength;
    }

    boolean hasServable;
    Servable servable;

    /** When it came, and when its model was asked; readings of {@link System#nanoTime}, where somebody counts. */
    long arrivedNanos;

    long askedNanos;

    /** The inputs in the order of the message. */
    final List<TensorField> inputs = new ArrayList<>(4);

    final List<String> outputFilter = new ArrayList<>(2);

    private final MemorySegment bytes;
    private Hold hold = RawMessage.NOTHING;
    private Hold reservation = RawMessage.NOTHING;

    PredictMessage(MemorySegment bytes, Servable nothing) {
        this.bytes = bytes;
        this.servable = nothing;
    }

    @Override
    public MemorySegment bytes() {
        return bytes;
    }

    /** Adds an input; a map's later entry replaces an earlier one of the same name. */
    void add(TensorField input) {
        inputs.removeIf(earlier -> earlier.name.equals(input.name));
        inputs.add(input);
    }

    @Override
    public void own(Hold newHold) {
        hold = newHold;
    }

    /** Takes over the heap that is reserved for the objects read from the message, once. */
    void reserve(Hold heap) {
        reservation = heap;
    }

    @Override
    public Hold takeOwnership() {
        Hold memory = hold;
        Hold heap = reservation;
        hold = RawMessage.NOTHING;
        reservation = RawMessage.NOTHING;
        if (heap.equals(RawMessage.NOTHING)) {
            return memory;
        }
        return () -> {
            memory.close();
            heap.close();
        };
    }

    @Override
    public void close() {
        takeOwnership().close();
    }
}
