// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import gatun.memory.buffers.BufferPool;
import gatun.memory.regions.RegionRegistry.Access;
import gatun.memory.regions.SharedMemoryObject;
import gatun.memory.regions.SharedRegions;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.RegionLease;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.ModelVersion;
import gatun.runtime.RequestedOutput;
import gatun.runtime.server.RequestExecutor.OutputAliasCheck;
import gatun.wire.inference.ModelConfig;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Windows of real regions: of one object under two names, and of another object. */
class OutputAliasCheckTest {
    private static final int OBJECT_BYTES = 65_536;

    private final BufferPool pool = new BufferPool(1 << 20);
    private final SharedRegions regions = SharedRegions.open(pool);
    private final SharedMemoryObject object =
            SharedMemoryObject.posix("/gatun-overlap-" + ProcessHandle.current().pid(), OBJECT_BYTES);
    private final SharedMemoryObject another = SharedMemoryObject.posix(
            "/gatun-overlap-2-" + ProcessHandle.current().pid(), OBJECT_BYTES);
    private final InferenceRequest request = new InferenceRequest(new Anything());

    @BeforeEach
    void register() {
        regions.register("a", object.key(), 0, OBJECT_BYTES);
        regions.register("b", object.key(), 4096, OBJECT_BYTES - 4096);
        regions.register("other", another.key(), 0, OBJECT_BYTES);
    }

    @AfterEach
    void close() {
        request.close();
        regions.close();
        object.close();
        another.close();
        assertThat(pool.usedBytes()).isZero();
        pool.close();
    }

    private void input(String name, Datatype datatype, String region, long offset, long byteSize) {
        RegionLease lease = regions.borrow(region, offset, byteSize, Access.forInput(datatype));
        request.hold(lease);
        Shape shape = Shape.of(byteSize);
        request.addInput(Tensor.inRegion(new TensorSpec(name, datatype, shape), lease));
    }

    private void output(String name, String region, long offset, long byteSize) {
        RegionLease lease = regions.borrow(region, offset, byteSize, Access.WRITE);
        request.hold(lease);
        request.addOutput(new RequestedOutput(name, Optional.of(lease), 0));
    }

    private void assertRefused(String text) {
        assertThatExceptionOfType(GatunException.class)
                .isThrownBy(() -> OutputAliasCheck.refuseIn(request))
                .withMessage(text)
                .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT));
    }

    @ParameterizedTest
    @CsvSource({"a,0,64", "a,63,1", "a,0,1", "a,32,8"})
    void shouldRefuseAnOutputThatOverlapsAnInput(String region, long offset, long byteSize) {
        input("IN", Datatype.UINT8, "a", 0, 64);
        output("OUT", region, offset, byteSize);

        assertRefused("output 'OUT' in shared memory region 'a' overlaps input 'IN' in region 'a';"
                + " expected each output in memory of its own");
    }

    @Test
    void shouldKnowAnObjectUnderAnotherName() {
        input("IN", Datatype.UINT8, "a", 4096, 64);
        output("OUT", "b", 63, 1);

        assertRefused("output 'OUT' in shared memory region 'b' overlaps input 'IN' in region 'a';"
                + " expected each output in memory of its own");
    }

    @Test
    void shouldRefuseOutputsThatOverlap() {
        output("ONE", "a", 0, 64);
        output("TWO", "a", 60, 64);

        assertRefused("output 'ONE' in shared memory region 'a' overlaps output 'TWO' in region 'a';"
                + " expected each output in memory of its own");
    }

    @Test
    void shouldPassWhatOnlyTouches() {
        input("IN", Datatype.UINT8, "a", 64, 64);
        input("SAME", Datatype.UINT8, "a", 100, 64);
        input("TEXT", Datatype.BYTES, "a", 300, 64);
        output("BEFORE", "a", 0, 64);
        output("BEHIND", "a", 164, 64);
        output("OVER_TEXT", "a", 300, 64);
        output("ELSEWHERE", "other", 64, 64);

        assertThatCode(() -> OutputAliasCheck.refuseIn(request)).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 0, 250, 499})
    void shouldFindTheOneAmongMany(int overlapping) {
        for (int i = 0; i < 500; i++) {
            if (i % 2 == 0) {
                input("IN" + i, Datatype.UINT8, "a", 128L * i, 100);
            } else {
                output("OUT" + i, "a", 128L * i, 100);
            }
        }
        if (overlapping < 0) {
            assertThatCode(() -> OutputAliasCheck.refuseIn(request)).doesNotThrowAnyException();
            return;
        }
        output("BAD", "a", 128L * overlapping + 99, 1);
        assertThatExceptionOfType(GatunException.class)
                .isThrownBy(() -> OutputAliasCheck.refuseIn(request))
                .withMessageContaining("output 'BAD'")
                .withMessageContaining(overlapping % 2 == 0 ? "'IN" + overlapping + "'" : "'OUT" + overlapping + "'");
    }

    /** A model that nobody asks anything. */
    private static final class Anything implements ModelVersion {
        @Override
        public long version() {
            return 1;
        }

        @Override
        public String versionText() {
            return "1";
        }

        @Override
        public List<TensorSpec> inputs() {
            return List.of();
        }

        @Override
        public List<TensorSpec> outputs() {
            return List.of();
        }

        @Override
        public ModelConfig config() {
            return ModelConfig.getDefaultInstance();
        }

        @Override
        public boolean ready() {
            return true;
        }

        @Override
        public List<String> readyVersions() {
            return List.of("1");
        }
    }
}
