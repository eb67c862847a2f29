// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.spi.Execution;
import gatun.spi.ResponseStore;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Two servers that share a store of responses. */
@Timeout(60)
class SharedCacheTest {
    private static final String CONFIG = """
            backend: "scripted" max_batch_size: 4
            input [ { name: "IN" data_type: TYPE_FP32 dims: [ -1 ] } ]
            output [ { name: "OUT" data_type: TYPE_FP32 dims: [ -1 ] } ]
            instance_group { count: 1 }
            """;
    private static final String CACHED = CONFIG + "response_cache { enable: true }";
    private static final String ENSEMBLE = """
            platform: "ensemble" max_batch_size: 4
            input [ { name: "IN" data_type: TYPE_FP32 dims: [ -1 ] } ]
            output [ { name: "OUT" data_type: TYPE_FP32 dims: [ -1 ] } ]
            ensemble_scheduling { step [ { model_name: "member" model_version: -1
              input_map { key: "IN" value: "IN" } output_map { key: "OUT" value: "OUT" } } ] }
            response_cache { enable: true }
            """;

    @TempDir
    Path firstRepository;

    @TempDir
    Path secondRepository;

    private final SharedMap store = new SharedMap();
    private final AtomicInteger runs = new AtomicInteger();
    private TestServer first;
    private TestServer second;

    /** A store in this process. */
    private static final class SharedMap implements ResponseStore {
        private final Map<ByteBuffer, byte[]> values = new ConcurrentHashMap<>();
        private final AtomicInteger calls = new AtomicInteger();
        private volatile boolean broken;

        @Override
        public Limits limits() {
            return new Limits(2, Duration.ofSeconds(1), 1024);
        }

        @Override
        public Optional<byte[]> get(byte[] key) {
            call();
            return Optional.ofNullable(values.get(ByteBuffer.wrap(key)));
        }

        @Override
        public void put(byte[] key, byte[] value) {
            call();
            values.put(ByteBuffer.wrap(key), value);
        }

        private void call() {
            calls.incrementAndGet();
            if (broken) {
                throw new GatunException(ErrorCode.UNAVAILABLE, "the store does not answer");
            }
        }

        @Override
        public void close() {
            // Both servers close it.
        }
    }

    @BeforeEach
    void prepare() {
        first = new TestServer(firstRepository);
        second = new TestServer(secondRepository);
    }

    @AfterEach
    void close() {
        first.close();
        second.close();
        assertThat(first.pool.usedBytes()).isZero();
        assertThat(second.pool.usedBytes()).isZero();
    }

    private void open() {
        first.open(this::compute, options -> options.responseStore(store));
        second.open(this::compute, options -> options.responseStore(store));
    }

    private void compute(Execution execution) {
        runs.incrementAndGet();
        ScriptedBackend.copy(execution);
    }

    private static float[] ask(TestServer server, String model, long... dims) {
        InferenceRequest request = server.input(server.request(model), "IN", dims);
        try (InferenceResponse response = server.server().infer(request)) {
            return response.outputs().getFirst().tensor().bytes().toArray(ValueLayout.JAVA_FLOAT);
        }
    }

    @Test
    void shouldAnswerWhatAnotherServersModelAnswered() {
        first.model("m", CACHED).file("m/1/weights", "w");
        second.model("m", CACHED).file("m/1/weights", "w");
        open();
        assertThat(ask(first, "m", 1, 3)).containsExactly(0, 1, 2);
        assertThat(ask(second, "m", 1, 3)).containsExactly(0, 1, 2);
        assertThat(runs).hasValue(1);
        assertThat(second.server().statistics("m", "").getFirst().cache().hitCount())
                .isEqualTo(1);
        assertThat(ask(second, "m", 3, 1)).as("another shape").containsExactly(0, 1, 2);
        assertThat(runs).hasValue(2);
    }

    @Test
    void shouldNotTakeTheResponsesOfOtherFilesUnderTheSameName() {
        first.model("m", CACHED).file("m/1/weights", "w");
        second.model("m", CACHED).file("m/1/weights", "W");
        open();
        ask(first, "m", 1, 3);
        ask(second, "m", 1, 3);
        assertThat(runs).hasValue(2);
    }

    @Test
    void shouldTellEnsemblesApartByTheirMembersFiles() {
        for (TestServer server : new TestServer[] {first, second}) {
            server.model("e", ENSEMBLE).model("member", CONFIG);
        }
        first.file("member/1/weights", "w");
        second.file("member/1/weights", "w");
        open();
        ask(first, "e", 1, 3);
        ask(second, "e", 1, 3);
        assertThat(runs).as("equal members").hasValue(1);
        second.file("member/1/weights", "W");
        second.close();
        second = new TestServer(secondRepository);
        second.open(this::compute, options -> options.responseStore(store));
        ask(second, "e", 1, 3);
        assertThat(runs).as("another member").hasValue(2);
    }

    @Test
    void shouldDoWithoutAStoreThatFails() {
        first.model("m", CACHED);
        second.model("m", CACHED);
        open();
        store.broken = true;
        assertThat(ask(first, "m", 1, 3)).containsExactly(0, 1, 2);
        int calls = store.calls.get();
        for (int i = 0; i < 10; i++) {
            assertThat(ask(first, "m", 1, 3)).containsExactly(0, 1, 2);
        }
        assertThat(runs).hasValue(11);
        assertThat(store.calls.get() - calls).as("it is not asked each time").isLessThan(10);
    }

    @Test
    void shouldLetTheModelAnswerWhereTheStoreHoldsSomethingElse() {
        first.model("m", CACHED);
        second.model("m", CACHED);
        open();
        ask(first, "m", 1, 3);
        store.values.replaceAll((key, value) -> new byte[] {1, 2, 3});
        assertThat(ask(second, "m", 1, 3)).containsExactly(0, 1, 2);
        assertThat(runs).hasValue(2);
        assertThat(ask(first, "m", 1, 3)).as("put anew").containsExactly(0, 1, 2);
        assertThat(runs).hasValue(2);
    }

    @Test
    void shouldNotStoreMoreThanTheStoreTakes() {
        first.model("m", CACHED);
        second.model("m", CACHED);
        open();
        ask(first, "m", 1, 300);
        assertThat(store.values).isEmpty();
        ask(first, "m", 1, 200);
        assertThat(store.values).hasSize(1);
    }
}
