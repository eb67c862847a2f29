// SPDX-License-Identifier: Apache-2.0
package gatun.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import gatun.testing.Await;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Shared tensors while calls run, fail or are given up, with a server played by the test. */
@Timeout(60)
class SharedTensorsTest {
    private static final TensorSpec OUTPUT = new TensorSpec("OUT", Datatype.INT32, Shape.of(2));

    private final PlayedServer server = new PlayedServer();

    private SharedTensors open() {
        return SharedTensors.sealed(server, "model")
                .input("IN", Datatype.INT32, 2)
                .output("OUT", Datatype.INT32, 2)
                .open();
    }

    @Test
    void shouldRefuseUseAndClosingWhileAnInferenceRuns() throws Exception {
        SharedTensors tensors = open();
        CountDownLatch running = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        server.response = () -> {
            running.countDown();
            Await.opened(go);
            return List.of(OUTPUT);
        };
        CompletableFuture<Void> done = tensors.inferAsync();
        running.await();
        assertThatIllegalStateException()
                .isThrownBy(tensors::close)
                .withMessageContaining(
                        "region still in use: an inference of model 'model' runs in region '" + tensors.region() + "'");
        assertThatIllegalStateException().isThrownBy(tensors::infer).withMessageContaining("region still in use");
        assertThatIllegalStateException()
                .isThrownBy(() -> tensors.set("IN", 1, 2))
                .withMessageContaining("region still in use");
        assertThat(server.registered).containsExactly(tensors.region());
        go.countDown();
        done.get(30, TimeUnit.SECONDS);
        tensors.close();
        assertThat(server.registered).isEmpty();
    }

    @Test
    void shouldBeFreeAgainWhenACallWasCancelled() throws Exception {
        SharedTensors tensors = open();
        CountDownLatch running = new CountDownLatch(1);
        server.response = () -> {
            running.countDown();
            Await.opened(new CountDownLatch(1));
            return List.of(OUTPUT);
        };
        CompletableFuture<Void> done = tensors.inferAsync();
        running.await();
        assertThat(done.cancel(true)).isTrue();
        assertThatExceptionOfType(CancellationException.class).isThrownBy(done::get);
        server.response = () -> List.of(OUTPUT);
        tensors.infer();
        tensors.close();
        assertThat(server.registered).isEmpty();
    }

    @Test
    void shouldBeFreeAgainWhenACallFailed() {
        try (SharedTensors tensors = open()) {
            server.response = () -> {
                throw new ServerException(StatusCode.INTERNAL, 500, "no");
            };
            assertThatExceptionOfType(ServerException.class).isThrownBy(tensors::infer);
            server.response = () -> List.of(OUTPUT);
            tensors.infer();
            assertThat(tensors.ints("OUT")).hasSize(2);
        }
    }

    @Test
    void shouldTellWhenTheServerLeftAnOutputOut() {
        try (SharedTensors tensors = open()) {
            server.response = List::of;
            assertThatExceptionOfType(MalformedResponseException.class)
                    .isThrownBy(tensors::infer)
                    .withMessageContaining("without having written output 'OUT'");
            server.response = () -> List.of(new TensorSpec("OUT", Datatype.INT32, Shape.of(3)));
            assertThatExceptionOfType(MalformedResponseException.class)
                    .isThrownBy(tensors::infer)
                    .withMessageContaining("has room for 8 bytes");
        }
    }

    @Test
    void shouldRegisterOnceMoreAtAServerThatStartedAnew() {
        try (SharedTensors tensors = open()) {
            server.registered.clear();
            server.response = () -> {
                if (server.registered.isEmpty()) {
                    throw new ServerException(
                            StatusCode.NOT_FOUND,
                            404,
                            "Unable to find shared memory region: '" + tensors.region() + "'");
                }
                return List.of(OUTPUT);
            };
            tensors.infer();
            assertThat(server.registered).containsExactly(tensors.region());
            assertThat(server.inferences).isEqualTo(2);
        }
    }

    @Test
    void shouldKeepWhatTheServerSaidWhenItTakesTheRegionNoMore() {
        try (SharedTensors tensors = open()) {
            server.response = () -> {
                throw new ServerException(
                        StatusCode.NOT_FOUND, 404, "Unable to find shared memory region: '" + tensors.region() + "'");
            };
            server.refusal = new ServerException(StatusCode.UNIMPLEMENTED, 501, "not here");
            assertThatExceptionOfType(ServerException.class)
                    .isThrownBy(tensors::infer)
                    .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.NOT_FOUND))
                    .satisfies(e -> assertThat(e.getSuppressed()).containsExactly(server.refusal));
            server.refusal = null;
        }
    }

    @Test
    void shouldFreeTheMemoryWhateverTheServerSaysOfForgetting() {
        SharedTensors refused = open();
        MemorySegment memory = refused.input("IN");
        server.refusal = new ServerException(StatusCode.UNAVAILABLE, 503, "not now");
        assertThatExceptionOfType(ServerException.class).isThrownBy(refused::close);
        assertThat(memory.scope().isAlive()).isFalse();
        refused.close();
        server.refusal = null;

        SharedTensors alone = open();
        MemorySegment left = alone.input("IN");
        server.refusal = new UnreachableException("gone");
        alone.close();
        assertThat(left.scope().isAlive()).isFalse();
    }

    @Test
    void shouldTakeTensorsFromMetadata() {
        server.metadata = new ModelMetadata(
                "model",
                List.of("1"),
                "",
                List.of(
                        new TensorSpec("A", Datatype.INT8, Shape.of(-1, 3)),
                        new TensorSpec("B", Datatype.FP64, Shape.of())),
                List.of(new TensorSpec("OUT", Datatype.FP32, Shape.of(-1, 2))));
        try (SharedTensors tensors =
                SharedTensors.sealed(server, "model").batch(5).open()) {
            assertThat(tensors.input("A").byteSize()).isEqualTo(15);
            assertThat(tensors.input("B").byteSize()).isEqualTo(8);
            tensors.set("A", new byte[15]);
            tensors.set("B", 1.5);
            InferRequest request = tensors.request();
            assertThat(request.inputs())
                    .containsExactly(
                            new InferInput.InRegion(
                                    new TensorSpec("A", Datatype.INT8, Shape.of(5, 3)), tensors.region(), 0, 15),
                            new InferInput.InRegion(
                                    new TensorSpec("B", Datatype.FP64, Shape.of()), tensors.region(), 64, 8));
            assertThat(request.outputs()).containsExactly(new InferOutput.InRegion("OUT", tensors.region(), 128, 40));
        }
        server.metadata = new ModelMetadata(
                "model", List.of("1"), "", List.of(new TensorSpec("A", Datatype.INT8, Shape.of(1, -1))), List.of());
        assertThatIllegalArgumentException()
                .isThrownBy(() -> SharedTensors.sealed(server, "model").open())
                .withMessage("the size of tensor 'A' INT8 [1,-1] of model 'model' is not known: name it with"
                        + " input(name, datatype, dims…) or inputBytes(name, byteSize, dims…)");
    }

    @Test
    void shouldRefuseStringsThatHaveNoRoom() {
        try (SharedTensors tensors = SharedTensors.sealed(server, "model")
                .inputBytes("IN", 20, 2)
                .outputBytes("OUT", 8)
                .open()) {
            tensors.set("IN", "123456", "789012");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> tensors.set("IN", "123456", "7890123"))
                    .withMessageContaining("was given 21 bytes, and its room is too small: 20 bytes");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> tensors.write("IN", MemorySegment.ofArray(new byte[9])))
                    .withMessageContaining("that are not its strings");
            tensors.write("IN", MemorySegment.ofArray(new byte[8]));
        }
        assertThatIllegalArgumentException()
                .isThrownBy(() -> SharedTensors.sealed(server, "model").inputBytes("IN", 7, 2))
                .withMessageContaining("at least 4 bytes for each string");
    }

    @Test
    void shouldSayThatThereIsNoSuchGpu() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> SharedTensors.cuda(server, "model", 99)
                        .input("IN", Datatype.INT32, 2)
                        .output("OUT", Datatype.INT32, 2)
                        .open())
                .withMessageContaining("GPU 99 was asked for");
    }
}
