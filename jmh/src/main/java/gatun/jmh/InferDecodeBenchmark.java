// SPDX-License-Identifier: Apache-2.0
package gatun.jmh;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import gatun.memory.buffers.BufferPool;
import gatun.runtime.limits.RequestLimits;
import gatun.runtime.limits.WorkBudgets.HeapBudget;
import gatun.v2.grpc.InferDecoder;
import gatun.v2.grpc.InferMessage;
import gatun.wire.inference.ModelInferRequest;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * A ModelInferRequest with one raw tensor until that tensor is in native memory for the engine. Ours: the connection
 * has read the socket into native memory; that copy is part of the figure, here from a heap array into a pooled buffer,
 * and the message is decoded in place. The baseline: protobuf-java parses the heap array and the tensor is copied out
 * of its ByteString into the same kind of buffer.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(
        value = 2,
        jvmArgsAppend = {"-Xms2g", "-Xmx2g"})
public class InferDecodeBenchmark {
    /** Bytes of the tensor. */
    @Param({"1024", "65536", "1048576", "16777216"})
    public int tensorBytes;

    private final Arena arena = Arena.ofConfined();
    private final BufferPool pool = new BufferPool(256L << 20);
    private final InferDecoder decoder = new InferDecoder(RequestLimits.STANDARD, new HeapBudget(64 << 20));
    private byte[] message = {};
    private MemorySegment landed = MemorySegment.NULL;

    /** Makes the message and checks that both ways find it. */
    @Setup(Level.Trial)
    public void makeMessage() throws InvalidProtocolBufferException {
        message = ModelInferRequest.newBuilder()
                .setModelName("identity_fp32")
                .setId("1")
                .addInputs(ModelInferRequest.InferInputTensor.newBuilder()
                        .setName("INPUT0")
                        .setDatatype("FP32")
                        .addShape(tensorBytes / Float.BYTES))
                .addRawInputContents(ByteString.copyFrom(new byte[tensorBytes]))
                .build()
                .toByteArray();
        landed = arena.allocate(message.length, 64);
        landed.copyFrom(MemorySegment.ofArray(message));
        if (protobuf() != tensorBytes || oursWithLanding() < 0) {
            throw new IllegalStateException("the two ways disagree");
        }
    }

    /** Decoding alone, of a message that lies in native memory. */
    @Benchmark
    public InferMessage ours() {
        return decoder.decode(landed, () -> {});
    }

    /** Landing and decoding. */
    @Benchmark
    public long oursWithLanding() {
        try (var buffer = pool.take(message.length)) {
            MemorySegment.copy(message, 0, buffer.segment(), ValueLayout.JAVA_BYTE, 0, message.length);
            decoder.decode(buffer.segment(), () -> {});
            return buffer.byteSize();
        }
    }

    /** protobuf-java, and the tensor into native memory. */
    @Benchmark
    public long protobuf() throws InvalidProtocolBufferException {
        ModelInferRequest request = ModelInferRequest.parseFrom(message);
        ByteString tensor = request.getRawInputContents(0);
        try (var buffer = pool.take(tensor.size())) {
            tensor.copyTo(buffer.segment().asByteBuffer());
            return buffer.byteSize();
        }
    }

    /** Gives the memory back. */
    @TearDown(Level.Trial)
    public void close() {
        pool.close();
        arena.close();
    }
}
