// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.cache;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.wire.inference.ModelInferResponse;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** A cached response for other servers: a {@code ModelInferResponse} of v2. Checked when read. Stateless. */
final class StoredResponse {
    private StoredResponse() {}

    /** The bytes of a response; empty where they would be more than {@code byteLimit}. */
    static Optional<byte[]> write(List<Tensor> outputs, int byteLimit) {
        long expected = 0;
        for (Tensor output : outputs) {
            expected += output.bytes().byteSize();
        }
        if (expected > byteLimit) {
            return Optional.empty();
        }
        ModelInferResponse.Builder message = ModelInferResponse.newBuilder();
        for (Tensor output : outputs) {
            ModelInferResponse.InferOutputTensor.Builder head = message.addOutputsBuilder()
                    .setName(output.spec().name())
                    .setDatatype(output.spec().datatype().wireName());
            Shape shape = output.spec().shape();
            for (int i = 0; i < shape.rank(); i++) {
                head.addShape(shape.dim(i));
            }
            message.addRawOutputContents(ByteString.copyFrom(output.bytes().asByteBuffer()));
        }
        ModelInferResponse whole = message.build();
        return whole.getSerializedSize() > byteLimit ? Optional.empty() : Optional.of(whole.toByteArray());
    }

    /** The outputs in {@code bytes}, copied to {@code pool}; empty if not exactly {@code wanted}. Throws if full. */
    static Optional<CachedResponses.Found> read(byte[] bytes, List<TensorSpec> wanted, BufferPool pool) {
        ModelInferResponse message;
        try {
            message = ModelInferResponse.parseFrom(bytes);
        } catch (InvalidProtocolBufferException e) {
            return Optional.empty();
        }
        Set<TensorSpec> left = new HashSet<>(wanted);
        if (message.getOutputsCount() != wanted.size() || message.getRawOutputContentsCount() != wanted.size()) {
            return Optional.empty();
        }
        List<TensorSpec> specs = new ArrayList<>();
        long byteSize = 0;
        for (int i = 0; i < wanted.size(); i++) {
            TensorSpec spec = spec(message.getOutputs(i));
            ByteString content = message.getRawOutputContents(i);
            if (!left.removeIf(output -> output.name().equals(spec.name()) && output.datatype() == spec.datatype())
                    || !fits(spec, content)) {
                return Optional.empty();
            }
            specs.add(spec);
            byteSize += LocalCache.aligned(content.size());
        }
        Buffer memory = pool.take(byteSize);
        List<Tensor> outputs = new ArrayList<>();
        long at = 0;
        for (int i = 0; i < specs.size(); i++) {
            ByteString content = message.getRawOutputContents(i);
            MemorySegment place = memory.segment().asSlice(at, content.size());
            content.copyTo(place.asByteBuffer());
            outputs.add(new Tensor(specs.get(i), place));
            at += LocalCache.aligned(content.size());
        }
        return Optional.of(new CachedResponses.Found(outputs, memory));
    }

    private static TensorSpec spec(ModelInferResponse.InferOutputTensor output) {
        long[] dims = output.getShapeList().stream().mapToLong(Long::longValue).toArray();
        return new TensorSpec(output.getName(), Datatype.of(output.getDatatype()), Shape.of(dims));
    }

    private static boolean fits(TensorSpec spec, ByteString content) {
        long count = spec.shape().elementCount();
        if (count < 0 || spec.datatype() == Datatype.INVALID) {
            return false;
        }
        if (spec.datatype().isFixedSize()) {
            return spec.shape().byteSize(spec.datatype()) == content.size();
        }
        return BytesCodec.check(MemorySegment.ofBuffer(content.asReadOnlyByteBuffer()), count)
                == BytesCodec.Check.Complete.COMPLETE;
    }
}
