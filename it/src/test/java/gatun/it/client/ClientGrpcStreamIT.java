// SPDX-License-Identifier: Apache-2.0
package gatun.it.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import gatun.client.ArrayTensors;
import gatun.client.ClientException;
import gatun.client.GatunClient;
import gatun.client.InferRequest;
import gatun.client.InferResponse;
import gatun.client.InferStream;
import gatun.client.ServerException;
import gatun.client.SharedTensors;
import gatun.client.StreamReceiver;
import gatun.client.UnreachableException;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SimpleModel;
import gatun.memory.tensor.Datatype;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Streams of the Java client, at the real server. */
@Timeout(120)
class ClientGrpcStreamIT {
    private static final int LIMIT_SECONDS = 60;

    @AutoClose
    private static ServerProcess server;

    @AutoClose
    private static GatunClient client;

    @BeforeAll
    static void start() throws Exception {
        server = ServerProcess.launch(ServerProcess.exampleModels(), "--allow-client-shm");
        client = GatunClient.connect("grpc://127.0.0.1:" + server.grpcPort());
    }

    /** Notes the events of a stream. */
    private static final class Notes implements StreamReceiver {
        final List<String> seen = Collections.synchronizedList(new ArrayList<>());
        final List<ClientException> failures = Collections.synchronizedList(new ArrayList<>());
        final CountDownLatch end = new CountDownLatch(1);
        private final Consumer<InferResponse> more;

        Notes() {
            this(response -> {});
        }

        Notes(Consumer<InferResponse> more) {
            this.more = more;
        }

        @Override
        public void answer(InferResponse response, boolean last) {
            try (response) {
                String value = response.outputs().isEmpty()
                        ? "nothing"
                        : Integer.toString(response.ints(
                                        response.outputs().getFirst().spec().name())[0]);
                seen.add(response.id() + ":" + value + (last ? " last" : ""));
                more.accept(response);
            }
        }

        @Override
        public void failed(String id, ServerException failure) {
            seen.add(id + ":failed");
            failures.add(failure);
        }

        @Override
        public void broken(ClientException failure) {
            failures.add(failure);
            seen.add("broken");
            end.countDown();
        }

        @Override
        public void finished() {
            seen.add("finished");
            end.countDown();
        }
    }

    private static InferRequest repeat(String id, int... values) {
        return InferRequest.to("repeat_int32")
                .id(id)
                .input("IN", values)
                .input(ArrayTensors.of(
                        "DELAY", Datatype.UINT32, MemorySegment.ofArray(new int[values.length]), values.length))
                .input(ArrayTensors.of("WAIT", Datatype.UINT32, MemorySegment.ofArray(new int[1]), 1))
                .parameter("triton_enable_empty_final_response", true)
                .output("OUT")
                .build();
    }

    @Test
    void shouldBringEveryAnswerOfADecoupledModel() {
        Notes notes = new Notes();
        try (InferStream stream = client.stream(notes)) {
            stream.send(repeat("a", 4, 5, 6));
        }
        assertThat(notes.seen).containsExactly("a:4", "a:5", "a:6", "a:nothing last", "finished");
    }

    @Test
    void shouldGoOnAfterARequestThatFailed() {
        Notes notes = new Notes();
        try (InferStream stream = client.stream(notes)) {
            stream.send(
                    InferRequest.to("nowhere").id("b").input("X", new int[1]).build());
            stream.send(InferRequest.to("simple")
                    .id("c")
                    .input("INPUT0", SimpleModel.LEFT, 1, 16)
                    .input("INPUT1", SimpleModel.RIGHT, 1, 16)
                    .build());
        }
        assertThat(notes.seen).containsExactly("b:failed", "c:" + SimpleModel.SUM[0] + " last", "finished");
        assertThat(notes.failures.getFirst()).hasMessageContaining("'nowhere'");
    }

    @Test
    void shouldCarryASequence() {
        Notes notes = new Notes();
        try (InferStream stream = client.stream(notes)) {
            for (int i = 0; i < 4; i++) {
                stream.send(InferRequest.to("simple_sequence")
                        .id("" + i)
                        .input("INPUT", new int[] {10 * i}, 1, 1)
                        .sequence(4242, i == 0, i == 3)
                        .build());
            }
        }
        assertThat(notes.seen).containsExactly("0:1 last", "1:10 last", "2:20 last", "3:30 last", "finished");
    }

    @Test
    void shouldTakeTensorsFromSharedMemory() {
        Notes notes = new Notes();
        try (SharedTensors tensors = SharedTensors.sealed(client, "simple").open()) {
            tensors.set("INPUT0", SimpleModel.LEFT);
            try (InferStream stream = client.stream(notes)) {
                stream.send(tensors.request());
            }
            tensors.set("INPUT1", SimpleModel.RIGHT);
            tensors.infer();
            assertThat(tensors.ints("OUTPUT0")).isEqualTo(SimpleModel.SUM);
        }
        assertThat(notes.seen).containsExactly(":nothing last", "finished");
    }

    /** The server has thousands of responses ready that nobody takes yet. */
    @Test
    void shouldLoseNothingWhenTheReceiverIsSlow() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        Notes notes = new Notes(response -> {
            try {
                go.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        int count = 20_000;
        try (InferStream stream = client.stream(notes)) {
            stream.send(repeat("many", IntStream.range(0, count).toArray()));
            // Another call goes on meanwhile.
            assertThat(client.server().live()).isTrue();
            go.countDown();
        }
        assertThat(notes.seen).hasSize(count + 2).endsWith("many:" + (count - 1), "many:nothing last", "finished");
    }

    @Test
    void shouldLetTheReceiverSend() throws Exception {
        CountDownLatch sent = new CountDownLatch(1);
        InferStream[] self = new InferStream[1];
        CountDownLatch opened = new CountDownLatch(1);
        Notes notes = new Notes(response -> {
            if (response.id().equals("first") && !response.outputs().isEmpty()) {
                try {
                    opened.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
                self[0].send(repeat("second", 8));
                sent.countDown();
            }
        });
        try (InferStream stream = client.stream(notes)) {
            self[0] = stream;
            opened.countDown();
            stream.send(repeat("first", 7));
            assertThat(sent.await(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
        }
        assertThat(notes.seen).contains("first:7", "second:8").endsWith("finished");
    }

    @Test
    void shouldEndWithWhatTheReceiverThrew() throws Exception {
        Notes notes = new Notes(response -> {
            throw new IllegalArgumentException("not that one");
        });
        InferStream stream = client.stream(notes);
        stream.send(repeat("x", 1, 2, 3));
        assertThat(notes.end.await(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
        stream.close();
        assertThat(notes.failures)
                .singleElement()
                .isInstanceOf(UnreachableException.class)
                .satisfies(e -> assertThat(e).hasMessageContaining("not that one"));
        assertThatIllegalStateException()
                .isThrownBy(() -> stream.send(repeat("y", 1)))
                .withMessageContaining("has ended: open another");
    }

    @Test
    void shouldBringNothingAfterItWasCancelled() throws Exception {
        CountDownLatch first = new CountDownLatch(1);
        Notes notes = new Notes(response -> first.countDown());
        InferStream stream = client.stream(notes);
        InferRequest slow = InferRequest.to("repeat_int32")
                .input("IN", new int[] {1, 2})
                .input(ArrayTensors.of("DELAY", Datatype.UINT32, MemorySegment.ofArray(new int[] {0, 3_600_000}), 2))
                .input(ArrayTensors.of("WAIT", Datatype.UINT32, MemorySegment.ofArray(new int[1]), 1))
                .output("OUT")
                .build();
        stream.send(slow);
        assertThat(first.await(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
        stream.cancel();
        stream.close();
        assertThat(notes.seen).containsExactly(":1");
    }

    @Test
    void shouldTellThatTheClientWasClosed() throws Exception {
        Notes notes = new Notes();
        GatunClient own = GatunClient.connect(client.address());
        InferStream stream = own.stream(notes);
        stream.send(repeat("x", 1));
        own.close();
        assertThat(notes.end.await(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(notes.seen).endsWith("broken");
        stream.close();
        assertThatIllegalStateException().isThrownBy(() -> own.stream(notes));
    }
}
