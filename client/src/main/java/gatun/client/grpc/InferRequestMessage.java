// SPDX-License-Identifier: Apache-2.0
package gatun.client.grpc;

import gatun.client.InferInput;
import gatun.client.InferOutput;
import gatun.client.InferRequest;
import gatun.client.calls.TensorMemory;
import gatun.client.grpc.GrpcFailures.UnusableMemoryException;
import gatun.wire.inference.InferParameter;
import gatun.wire.inference.ModelInferRequest;
import io.grpc.Drainable;
import io.grpc.KnownLength;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A request for gRPC: the part before the tensors' bytes, encoded once, and the caller's tensors. Keeps the fields of
 * the last response, which are mostly the same again. Thread-safe.
 */
final class InferRequestMessage {
    /** A field of ModelInferRequest: raw_input_contents, of a length and as many bytes. */
    private static final int RAW_INPUT_CONTENTS = 7 << 3 | 2;
    /** Bytes copied at a time on the way to gRPC, which takes heap memory only. */
    private static final int CHUNK_BYTES = 1 << 15;

    private static final int MAX_VARINT_BYTES = 10;

    /** A segment accessible to this thread, which owns none, can be read by any thread. */
    private static final Thread ANY = Thread.ofPlatform().unstarted(() -> {});

    private final InferRequest request;
    private final byte[] head;
    private final InferInput.Sent[] tensors;
    private final byte[][] lengths;
    private final int byteSize;
    private volatile @Nullable ResponseFields lastHead;

    private InferRequestMessage(
            InferRequest request, byte[] head, InferInput.Sent[] tensors, byte[][] lengths, int byteSize) {
        this.request = request;
        this.head = head;
        this.tensors = tensors;
        this.lengths = lengths;
        this.byteSize = byteSize;
    }

    /** The message of {@code request}, which remembers it; refuses memory that cannot be read. */
    static InferRequestMessage of(InferRequest request) {
        TensorMemory.requireReadable(request);
        return request.encoded(InferRequestMessage.class, InferRequestMessage::encode);
    }

    InferRequest request() {
        return request;
    }

    /** Whether memory is among it that only one thread may read. */
    boolean isOfOneThread() {
        for (InferInput.Sent tensor : tensors) {
            if (!tensor.tensor().bytes().isAccessibleBy(ANY)) {
                return true;
            }
        }
        return false;
    }

    /** The fields of a response, parsed only where they differ from the last. */
    ResponseFields head(byte[] bytes, int length) {
        ResponseFields known = lastHead;
        if (known != null && known.matches(bytes, length)) {
            return known;
        }
        ResponseFields read = ResponseFields.parse(bytes, length);
        lastHead = read;
        return read;
    }

    boolean wantsInRegion(String output) {
        List<InferOutput> outputs = request.outputs();
        for (int i = 0; i < outputs.size(); i++) {
            if (outputs.get(i) instanceof InferOutput.InRegion wanted
                    && wanted.name().equals(output)) {
                return true;
            }
        }
        return false;
    }

    /** The message's bytes, read where they lie. */
    InputStream stream() {
        return new Bytes(this);
    }

    private static InferRequestMessage encode(InferRequest request) {
        ModelInferRequest.Builder message = ModelInferRequest.newBuilder()
                .setModelName(request.model())
                .setModelVersion(request.version())
                .setId(request.id());
        request.parameters().forEach((name, value) -> message.putParameters(name, parameter(value)));
        List<InferInput.Sent> sent = new ArrayList<>();
        for (InferInput input : request.inputs()) {
            ModelInferRequest.InferInputTensor.Builder tensor = message.addInputsBuilder()
                    .setName(input.spec().name())
                    .setDatatype(input.spec().datatype().wireName());
            for (long dim : input.spec().shape().toArray()) {
                tensor.addShape(dim);
            }
            switch (input) {
                case InferInput.Sent own -> sent.add(own);
                case InferInput.InRegion there ->
                    tensor.putAllParameters(window(there.region(), there.offset(), there.byteSize()));
            }
        }
        for (InferOutput output : request.outputs()) {
            ModelInferRequest.InferRequestedOutputTensor.Builder wanted =
                    message.addOutputsBuilder().setName(output.name());
            switch (output) {
                case InferOutput.Sent whole -> {
                    // It comes with the response.
                }
                case InferOutput.Classes classes ->
                    wanted.putParameters("classification", parameter((long) classes.count()));
                case InferOutput.InRegion there ->
                    wanted.putAllParameters(window(there.region(), there.offset(), there.byteSize()));
            }
        }
        byte[] head = message.build().toByteArray();
        byte[][] lengths = new byte[sent.size()][];
        long byteSize = head.length;
        for (int i = 0; i < lengths.length; i++) {
            long length = sent.get(i).tensor().byteSize();
            lengths[i] = field(RAW_INPUT_CONTENTS, length);
            byteSize += lengths[i].length + length;
        }
        if (byteSize > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("a request of " + byteSize + " bytes to model '" + request.model()
                    + "': expected at most 2147483647, gRPC's limit; use shared memory for it");
        }
        return new InferRequestMessage(request, head, sent.toArray(InferInput.Sent[]::new), lengths, (int) byteSize);
    }

    private static Map<String, InferParameter> window(String region, long offset, long byteSize) {
        return Map.of(
                "shared_memory_region", parameter(region),
                "shared_memory_byte_size", parameter(byteSize),
                "shared_memory_offset", parameter(offset));
    }

    private static InferParameter parameter(Object value) {
        InferParameter.Builder parameter = InferParameter.newBuilder();
        return switch (value) {
            case Boolean truth -> parameter.setBoolParam(truth).build();
            case Long number -> parameter.setInt64Param(number).build();
            case Double number -> parameter.setDoubleParam(number).build();
            default -> parameter.setStringParam(value.toString()).build();
        };
    }

    private static byte[] field(int tag, long length) {
        byte[] bytes = new byte[1 + MAX_VARINT_BYTES];
        int size = 0;
        bytes[size++] = (byte) tag;
        long left = length;
        for (; (left & ~0x7fL) != 0; left >>>= 7) {
            bytes[size++] = (byte) (left | 0x80);
        }
        bytes[size++] = (byte) left;
        return Arrays.copyOf(bytes, size);
    }

    private void writeTo(OutputStream target) throws IOException {
        target.write(head);
        try {
            for (int i = 0; i < tensors.length; i++) {
                target.write(lengths[i]);
                write(tensors[i].tensor().bytes(), target);
            }
        } catch (IllegalStateException e) {
            throw new UnusableMemoryException(e);
        }
    }

    private static void write(MemorySegment bytes, OutputStream target) throws IOException {
        long left = bytes.byteSize();
        if (left == 0) {
            return;
        }
        if (bytes.heapBase().orElse(null) instanceof byte[] array && left <= Integer.MAX_VALUE) {
            // The address of such a segment is its offset in the array.
            target.write(array, (int) bytes.address(), (int) left);
            return;
        }
        byte[] chunk = new byte[(int) Math.min(CHUNK_BYTES, left)];
        for (long at = 0; left > 0; ) {
            int length = (int) Math.min(chunk.length, left);
            MemorySegment.copy(bytes, ValueLayout.JAVA_BYTE, at, chunk, 0, length);
            target.write(chunk, 0, length);
            at += length;
            left -= length;
        }
    }

    /** The stream that gRPC reads; it writes everything at once where it can. */
    private static final class Bytes extends InputStream implements KnownLength, Drainable {
        private final InferRequestMessage message;
        private boolean drained;
        private @Nullable InputStream copy;

        Bytes(InferRequestMessage message) {
            this.message = message;
        }

        @Override
        public int available() throws IOException {
            if (copy != null) {
                return copy.available();
            }
            return drained ? 0 : message.byteSize;
        }

        @Override
        public int drainTo(OutputStream target) throws IOException {
            if (copy != null) {
                return Math.toIntExact(copy.transferTo(target));
            }
            if (drained) {
                return 0;
            }
            drained = true;
            message.writeTo(target);
            return message.byteSize;
        }

        @Override
        public int read() throws IOException {
            return copied().read();
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            return copied().read(target, offset, length);
        }

        /** For interceptors and transports that read instead of draining. */
        private InputStream copied() throws IOException {
            InputStream known = copy;
            if (known == null) {
                ByteArrayOutputStream bytes = new ByteArrayOutputStream(drained ? 0 : message.byteSize);
                if (!drained) {
                    message.writeTo(bytes);
                }
                known = new ByteArrayInputStream(bytes.toByteArray());
                copy = known;
            }
            return known;
        }
    }
}
