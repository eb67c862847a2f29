// SPDX-License-Identifier: Apache-2.0
package gatun.client.grpc;

import gatun.client.InferResponse;
import gatun.client.MalformedResponseException;
import gatun.client.calls.ClientMemory;
import gatun.client.calls.ResponseBuffer;
import gatun.client.grpc.GrpcFailures.UnusableMemoryException;
import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Hold;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.wire.WireCursor;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A response as it came: the tensors' bytes in native memory, each aligned to 64, and all else as it was sent. Owns the
 * memory until it is closed, or until {@link #toResponse} hands it over. For one thread at a time.
 */
final class InferResponseMessage implements AutoCloseable {
    // Field numbers of ModelStreamInferResponse.
    private static final int ERROR_MESSAGE = 1;
    private static final int INFER_RESPONSE = 2;

    /** The field of ModelInferResponse that has the tensors' bytes. */
    private static final int RAW_OUTPUT_CONTENTS = 6;

    private static final int FIRST_HEAD_BYTES = 256;
    /** Larger lengths are read in steps, so that a false length costs no memory. */
    private static final int STEP_BYTES = 1 << 20;

    private static final int MAX_VARINT_BYTES = 10;
    private static final int FIXED64_BYTES = 8;
    private static final int FIXED32_BYTES = 4;

    private static final MemorySegment EMPTY = MemorySegment.ofArray(new byte[0]);
    private static final Hold NOTHING = () -> {};

    private byte[] head = new byte[FIRST_HEAD_BYTES];
    private int headSize;
    private final List<MemorySegment> raws = new ArrayList<>(4);
    private final List<ResponseBuffer> memory = new ArrayList<>(4);
    private String error = "";

    private InferResponseMessage() {}

    static InferResponseMessage parse(InputStream stream) {
        return parse(stream, false);
    }

    static InferResponseMessage parseStreamed(InputStream stream) {
        return parse(stream, true);
    }

    /** The error text of a failed request on a stream; empty for none. */
    String error() {
        return error;
    }

    /** All but the tensors' bytes; the first {@link #headSize} of it count. */
    byte[] head() {
        return head;
    }

    int headSize() {
        return headSize;
    }

    /** Which outputs a request wants in a region. */
    @FunctionalInterface
    interface Wanted {
        boolean inRegion(String output);
    }

    /** The caller owns the memory then. Throws {@link MalformedResponseException} when the sizes do not fit. */
    InferResponse toResponse(ResponseFields said, Wanted wanted) {
        List<TensorSpec> specs = said.specs();
        List<Tensor> tensors = List.of();
        List<TensorSpec> inRegions = List.of();
        // One for each output, those in regions empty; or, from some servers, only for those that are sent.
        boolean oneEach = raws.size() == specs.size();
        int next = 0;
        for (int i = 0; i < specs.size(); i++) {
            TensorSpec spec = specs.get(i);
            boolean elsewhere = wanted.inRegion(spec.name());
            MemorySegment bytes = EMPTY;
            if (said.hasContents(i)) {
                bytes = said.contents(i, this::take);
            } else if (oneEach) {
                bytes = raws.get(i);
            } else if (!elsewhere && next < raws.size()) {
                bytes = raws.get(next++);
            }
            if (bytes.byteSize() == 0 && elsewhere) {
                if (inRegions.isEmpty()) {
                    inRegions = new ArrayList<>(specs.size());
                }
                inRegions.add(spec);
                continue;
            }
            requireSize(spec, bytes);
            if (tensors.isEmpty()) {
                tensors = new ArrayList<>(specs.size());
            }
            tensors.add(new Tensor(spec, bytes));
        }
        if (!oneEach && next < raws.size()) {
            throw new MalformedResponseException("the answer tells of " + specs.size() + " outputs and has bytes of "
                    + raws.size() + ": expected as many");
        }
        List<TensorSpec> there = inRegions.size() == specs.size() ? specs : List.copyOf(inRegions);
        InferResponse response = new InferResponse(
                said.model(), said.version(), said.id(), List.copyOf(tensors), there, said.parameters(), hold());
        memory.clear();
        return response;
    }

    @Override
    public void close() {
        memory.forEach(ResponseBuffer::close);
        memory.clear();
    }

    private static InferResponseMessage parse(InputStream stream, boolean streamed) {
        InferResponseMessage reply = new InferResponseMessage();
        try {
            MessageInput in = new MessageInput(stream);
            if (streamed) {
                reply.readStreamed(in);
            } else {
                reply.read(in);
            }
            return reply;
        } catch (IOException | UncheckedIOException e) {
            reply.close();
            throw new MalformedResponseException("the response cannot be read: " + e.getMessage(), e);
        } catch (IllegalStateException e) {
            reply.close();
            throw new UnusableMemoryException(e);
        } catch (Throwable t) {
            reply.close();
            throw t;
        }
    }

    private void readStreamed(MessageInput in) throws IOException {
        for (int tag = in.tagOrEnd(); tag != MessageInput.END; tag = in.tagOrEnd()) {
            boolean delimited = WireCursor.type(tag) == WireCursor.LENGTH_DELIMITED;
            if (delimited && WireCursor.field(tag) == INFER_RESPONSE) {
                long outer = in.limit();
                int length = in.length();
                in.limit(in.position() + length);
                read(in);
                in.limit(outer);
            } else {
                // Kept where all else is, and taken away again.
                int from = headSize;
                copy(in, tag);
                if (delimited && WireCursor.field(tag) == ERROR_MESSAGE) {
                    error = text(from);
                }
                headSize = from;
            }
        }
    }

    /** The text of a field that was copied to {@code from}. */
    private String text(int from) {
        int at = from + 1;
        while (head[at] < 0) {
            at++;
        }
        return new String(head, at + 1, headSize - at - 1, StandardCharsets.UTF_8);
    }

    private void read(MessageInput in) throws IOException {
        for (int tag = in.tagOrEnd(); tag != MessageInput.END; tag = in.tagOrEnd()) {
            if (WireCursor.field(tag) == RAW_OUTPUT_CONTENTS && WireCursor.type(tag) == WireCursor.LENGTH_DELIMITED) {
                int length = in.length();
                MemorySegment bytes = length == 0 ? EMPTY : take(length);
                in.read(bytes);
                raws.add(bytes);
            } else {
                copy(in, tag);
            }
        }
    }

    private void copy(MessageInput in, int tag) throws IOException {
        put(tag);
        switch (WireCursor.type(tag)) {
            case WireCursor.VARINT -> put(in.varint());
            case WireCursor.FIXED64 -> copyBytes(in, FIXED64_BYTES);
            case WireCursor.FIXED32 -> copyBytes(in, FIXED32_BYTES);
            case WireCursor.LENGTH_DELIMITED -> {
                int length = in.length();
                put(length);
                copyBytes(in, length);
            }
            default -> throw in.malformed("wire type " + WireCursor.type(tag));
        }
    }

    private void copyBytes(MessageInput in, int length) throws IOException {
        for (int left = length; left > 0; ) {
            int step = Math.min(left, STEP_BYTES);
            ensure(step);
            in.read(head, headSize, step);
            headSize += step;
            left -= step;
        }
    }

    private void put(long value) {
        ensure(MAX_VARINT_BYTES);
        long left = value;
        for (; (left & ~0x7fL) != 0; left >>>= 7) {
            head[headSize++] = (byte) (left | 0x80);
        }
        head[headSize++] = (byte) left;
    }

    private void ensure(int more) {
        if (head.length - headSize < more) {
            int wanted = Math.addExact(headSize, more);
            head = Arrays.copyOf(head, (int) Math.max(wanted, Math.min(2L * head.length, Integer.MAX_VALUE - 8)));
        }
    }

    private MemorySegment take(long byteSize) {
        ResponseBuffer buffer = ClientMemory.take(byteSize);
        memory.add(buffer);
        return buffer.segment();
    }

    private Hold hold() {
        if (memory.size() < 2) {
            return memory.isEmpty() ? NOTHING : memory.getFirst();
        }
        ResponseBuffer[] buffers = memory.toArray(ResponseBuffer[]::new);
        return () -> {
            for (ResponseBuffer buffer : buffers) {
                buffer.close();
            }
        };
    }

    private static void requireSize(TensorSpec spec, MemorySegment bytes) {
        long expected = spec.shape().byteSize(spec.datatype());
        boolean fits = spec.datatype() == Datatype.BYTES
                ? BytesCodec.check(bytes, spec.shape().elementCount()) instanceof BytesCodec.Check.Complete
                : spec.datatype().isFixedSize() && expected == bytes.byteSize();
        if (!fits) {
            throw new MalformedResponseException("the answer has " + bytes.byteSize() + " bytes for output '"
                    + spec.name() + "' " + spec.datatype() + " " + spec.shape() + ", which are not its size");
        }
    }
}
