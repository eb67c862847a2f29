// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.cache;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.wire.inference.ModelInferResponse;
import gatun.wire.inference.ModelInferResponse.InferOutputTensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class StoredResponseTest {
    private static final int LIMIT = 1 << 16;

    private final BufferPool pool = new BufferPool(1 << 20);

    @AfterEach
    void close() {
        assertThat(pool.usedBytes()).isZero();
        pool.close();
    }

    private static Tensor tensor(TensorSpec spec, byte... bytes) {
        return new Tensor(spec, MemorySegment.ofArray(bytes));
    }

    private static TensorSpec spec(String name, Datatype datatype, long... dims) {
        return new TensorSpec(name, datatype, Shape.of(dims));
    }

    private static byte[] stored(String name, String datatype, int byteSize, long... dims) {
        InferOutputTensor.Builder output =
                InferOutputTensor.newBuilder().setName(name).setDatatype(datatype);
        for (long dim : dims) {
            output.addShape(dim);
        }
        return ModelInferResponse.newBuilder()
                .addOutputs(output)
                .addRawOutputContents(ByteString.copyFrom(new byte[byteSize]))
                .build()
                .toByteArray();
    }

    private boolean isRead(byte[] bytes, TensorSpec... wanted) {
        Optional<CachedResponses.Found> found = StoredResponse.read(bytes, List.of(wanted), pool);
        found.ifPresent(response -> response.claim().close());
        return found.isPresent();
    }

    @Test
    void shouldReadWhatItWrote() {
        Tensor numbers = tensor(
                spec("NUMBERS", Datatype.INT16, 1, 3), (byte) 1, (byte) 0, (byte) 2, (byte) 0, (byte) 3, (byte) 0);
        Tensor texts = tensor(
                spec("TEXTS", Datatype.BYTES, 2),
                (byte) 1,
                (byte) 0,
                (byte) 0,
                (byte) 0,
                (byte) 'a',
                (byte) 0,
                (byte) 0,
                (byte) 0,
                (byte) 0);
        Tensor nothing = tensor(spec("NOTHING", Datatype.FP32, 0, 4));
        Tensor scalar = tensor(spec("SCALAR", Datatype.BOOL), (byte) 1);
        List<Tensor> outputs = List.of(numbers, texts, nothing, scalar);
        byte[] bytes = StoredResponse.write(outputs, LIMIT).orElseThrow();
        List<TensorSpec> wanted = List.of(
                spec("SCALAR", Datatype.BOOL),
                spec("NOTHING", Datatype.FP32, -1, 4),
                spec("TEXTS", Datatype.BYTES, -1),
                spec("NUMBERS", Datatype.INT16, -1, 3));
        CachedResponses.Found found = StoredResponse.read(bytes, wanted, pool).orElseThrow();
        for (int i = 0; i < outputs.size(); i++) {
            assertThat(found.outputs().get(i).spec()).isEqualTo(outputs.get(i).spec());
            assertThat(found.outputs().get(i).bytes().toArray(ValueLayout.JAVA_BYTE))
                    .isEqualTo(outputs.get(i).bytes().toArray(ValueLayout.JAVA_BYTE));
        }
        found.claim().close();
    }

    @Test
    void shouldNotWriteMoreThanTheLimit() {
        Tensor large = tensor(spec("OUT", Datatype.UINT8, 100), new byte[100]);
        assertThat(StoredResponse.write(List.of(large), 99)).isEmpty();
        assertThat(StoredResponse.write(List.of(large), 100))
                .as("with its name and shape")
                .isEmpty();
        assertThat(StoredResponse.write(List.of(large), 200)).isPresent();
    }

    @Test
    void shouldTakeNoOtherResponseForTheWantedOne() {
        TensorSpec wanted = spec("OUT", Datatype.FP32, -1);
        assertThat(isRead(stored("OUT", "FP32", 8, 2), wanted)).isTrue();
        assertThat(isRead(stored("OTHER", "FP32", 8, 2), wanted)).isFalse();
        assertThat(isRead(stored("OUT", "INT32", 8, 2), wanted)).isFalse();
        assertThat(isRead(stored("OUT", "FP32", 8, 3), wanted)).isFalse();
        assertThat(isRead(stored("OUT", "FP32", 8, -2), wanted)).isFalse();
        assertThat(isRead(stored("OUT", "FP32", 8, -1), wanted)).isFalse();
        assertThat(isRead(stored("OUT", "FP32", 8, Long.MAX_VALUE, 4), wanted)).isFalse();
        assertThat(isRead(stored("OUT", "SOME", 8, 2), spec("OUT", Datatype.INVALID, -1)))
                .isFalse();
        assertThat(isRead(stored("OUT", "FP32", 8, 2), wanted, spec("MORE", Datatype.FP32, -1)))
                .isFalse();
        assertThat(isRead(stored("OUT", "FP32", 8, 2), wanted, wanted)).isFalse();
        assertThat(isRead(stored("OUT", "FP32", 8, 2))).isFalse();
        assertThat(isRead(new byte[0], wanted)).isFalse();
    }

    @Test
    void shouldNotTakeBytesForTextsThatTheyAreNot() {
        TensorSpec wanted = spec("OUT", Datatype.BYTES, -1);
        assertThat(isRead(stored("OUT", "BYTES", 8, 2), wanted))
                .as("two empty texts")
                .isTrue();
        assertThat(isRead(stored("OUT", "BYTES", 8, 1), wanted)).isFalse();
        assertThat(isRead(stored("OUT", "BYTES", 6, 2), wanted)).isFalse();
    }

    @Test
    void shouldSurviveAnyBytes() {
        Random random = new Random(7);
        byte[] valid = stored("OUT", "FP32", 64, 16);
        for (int i = 0; i < 20_000; i++) {
            byte[] broken = valid.clone();
            for (int changes = random.nextInt(4); changes >= 0; changes--) {
                broken[random.nextInt(broken.length)] = (byte) random.nextInt();
            }
            boolean read = isRead(broken, spec("OUT", Datatype.FP32, -1));
            assertThat(read || broken.length == valid.length).isTrue();
        }
        assertThat(isRead(valid, spec("OUT", Datatype.FP32, -1))).isTrue();
    }
}
