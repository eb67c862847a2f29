// SPDX-License-Identifier: Apache-2.0
package gatun.it.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.client.ArrayTensors;
import gatun.client.ClientException;
import gatun.client.DeadlineException;
import gatun.client.GatunClient;
import gatun.client.InferRequest;
import gatun.client.InferResponse;
import gatun.client.InferSequence;
import gatun.client.InferStream;
import gatun.client.RepositoryModel;
import gatun.client.ServerException;
import gatun.client.StatusCode;
import gatun.client.StreamReceiver;
import gatun.embedded.Gatun;
import gatun.it.harness.ModelRepositoryFolder;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SimpleModel;
import gatun.memory.regions.SharedMemoryObject;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.wire.inference.ModelStatistics;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Gatun as a part of another program: this one. */
class EmbeddedIT {
    @TempDir
    Path folder;

    @Test
    void shouldAnswerFromMemoryOfTheCaller() {
        try (Gatun gatun = Gatun.embedded(ServerProcess.exampleModels());
                Arena arena = Arena.ofConfined()) {
            MemorySegment left = arena.allocateFrom(ValueLayout.JAVA_INT, SimpleModel.LEFT);
            MemorySegment right = arena.allocateFrom(ValueLayout.JAVA_INT, SimpleModel.RIGHT);
            InferRequest request = InferRequest.to("simple")
                    .id("first")
                    .input("INPUT0", Datatype.INT32, left, 1, 16)
                    .input("INPUT1", Datatype.INT32, right, 1, 16)
                    .build();
            try (InferResponse response = gatun.client().infer(request)) {
                assertThat(response.ints("OUTPUT0")).isEqualTo(SimpleModel.SUM);
                assertThat(response.ints("OUTPUT1")).isEqualTo(SimpleModel.DIFFERENCE);
                assertThat(response.id()).isEqualTo("first");
                assertThat(response.version()).isEqualTo("1");
                assertThat(response.output("OUTPUT0").bytes().isNative()).isTrue();
            }
            left.setAtIndex(ValueLayout.JAVA_INT, 0, 1000);
            try (InferResponse response = gatun.client().infer(request)) {
                assertThat(response.ints("OUTPUT0")[0]).isEqualTo(1000 + SimpleModel.RIGHT[0]);
            }
        }
    }

    @Test
    void shouldTellFlightRecordingsOfRequests() throws Exception {
        try (Gatun gatun = Gatun.embedded(ServerProcess.exampleModels());
                Recording recording = new Recording()) {
            InferRequest request = InferRequest.to("simple")
                    .input("INPUT0", SimpleModel.LEFT, 1, 16)
                    .input("INPUT1", SimpleModel.RIGHT, 1, 16)
                    .build();
            gatun.client().infer(request).close(); // before anybody records
            recording.enable("gatun.Request").withoutThreshold();
            recording.start();
            gatun.client().infer(request).close();
            InferRequest wrong = InferRequest.to("simple")
                    .input("INPUT0", SimpleModel.LEFT, 1, 16)
                    .build();
            assertThatThrownBy(() -> gatun.client().infer(wrong)).isInstanceOf(ServerException.class);
            recording.stop();
            recording.dump(folder.resolve("embedded.jfr"));
        }
        List<RecordedEvent> events = RecordingFile.readAllEvents(folder.resolve("embedded.jfr"));
        assertThat(events).hasSize(2).allSatisfy(event -> {
            assertThat(event.getString("transport")).isEqualTo("embedded");
            assertThat(event.getString("protocol")).isEqualTo("none");
            assertThat(event.getString("request")).isEqualTo("infer");
            assertThat(event.getString("model")).isEqualTo("simple");
        });
        assertThat(events.getFirst().getString("status")).isEqualTo("OK");
        assertThat(events.getFirst().getInt("batchSize")).isEqualTo(1);
        assertThat(events.getFirst().getDuration("computeInfer")).isPositive();
        assertThat(events.getLast().getString("status")).isEqualTo("INVALID_ARGUMENT");
    }

    @Test
    void shouldTakeArraysTextsAndMemoryAtOddAddresses() {
        try (Gatun gatun = Gatun.embedded(ServerProcess.exampleModels());
                Arena arena = Arena.ofShared()) {
            MemorySegment odd = arena.allocate(65, 64).asSlice(1);
            MemorySegment.copy(SimpleModel.LEFT, 0, odd, ValueLayout.JAVA_INT_UNALIGNED, 0, 16);
            InferRequest mixed = InferRequest.to("simple")
                    .input("INPUT0", Datatype.INT32, odd, 1, 16)
                    .input("INPUT1", SimpleModel.RIGHT, 1, 16)
                    .output("OUTPUT1")
                    .build();
            try (InferResponse response = gatun.client().infer(mixed)) {
                assertThat(response.outputs()).hasSize(1);
                assertThat(response.ints("OUTPUT1")).isEqualTo(SimpleModel.DIFFERENCE);
            }
            String[] texts = IntStream.range(0, 16).mapToObj(Integer::toString).toArray(String[]::new);
            try (InferResponse response = gatun.client()
                    .infer(
                            "simple_string",
                            ArrayTensors.of("INPUT0", texts, 1, 16),
                            ArrayTensors.of("INPUT1", texts, 1, 16))) {
                assertThat(response.strings("OUTPUT0"))
                        .startsWith("0", "2", "4")
                        .endsWith("30");
            }
        }
    }

    @Test
    void shouldShareBatchesWithCallersOfTheNetworkAndOfSharedMemory() throws Exception {
        // The batch runs when the third request is there, and not before: the delay is longer than any test.
        ModelRepositoryFolder repository = new ModelRepositoryFolder(folder);
        repository.simple(
                "shared",
                "dynamic_batching { preferred_batch_size: [ 3 ] max_queue_delay_microseconds: 3600000000 }",
                1);
        try (Gatun gatun = Gatun.embedded(folder, "--allow-http=true", "--http-port=0", "--allow-client-shm");
                SharedMemoryObject object = SharedMemoryObject.posix(
                        "/gatun-embedded-" + ProcessHandle.current().pid(), 128);
                HttpClient http = HttpClient.newHttpClient()) {
            GatunClient client = gatun.client();
            String url = gatun.addresses().getFirst();
            MemorySegment.copy(SimpleModel.LEFT, 0, object.segment(), ValueLayout.JAVA_INT, 0, 16);
            MemorySegment.copy(SimpleModel.RIGHT, 0, object.segment(), ValueLayout.JAVA_INT, 64, 16);
            client.regions().register("inputs", object.key(), 0, 128);
            CompletableFuture<InferResponse> embedded = client.inferAsync(simple("shared"));
            CompletableFuture<HttpResponse<String>> network = post(http, url, SimpleModel.json());
            CompletableFuture<HttpResponse<String>> region = post(http, url, """
                    {"inputs": [
                      {"name": "INPUT0", "datatype": "INT32", "shape": [1, 16],
                       "parameters": {"shared_memory_region": "inputs", "shared_memory_byte_size": 64}},
                      {"name": "INPUT1", "datatype": "INT32", "shape": [1, 16], "parameters":
                       {"shared_memory_region": "inputs", "shared_memory_offset": 64, "shared_memory_byte_size": 64}}]}""");

            try (InferResponse response = embedded.get()) {
                assertThat(response.ints("OUTPUT0")).isEqualTo(SimpleModel.SUM);
            }
            assertThat(network.get().body()).contains(SimpleModel.jsonData(SimpleModel.SUM));
            assertThat(region.get().body()).contains(SimpleModel.jsonData(SimpleModel.SUM));
            ModelStatistics statistics =
                    client.models().statistics("shared", "").getFirst();
            assertThat(statistics.getInferenceCount()).isEqualTo(3);
            assertThat(statistics.getExecutionCount()).isEqualTo(1);
            client.regions().unregister("inputs");
        }
    }

    @Test
    void shouldKeepSequencesInOrder() {
        try (Gatun gatun = Gatun.embedded(ServerProcess.exampleModels())) {
            InferSequence sequence = gatun.client().sequence("simple_sequence");
            assertThat(sequenceValue(sequence.next(ArrayTensors.of("INPUT", new int[] {11}, 1, 1))))
                    .isEqualTo(12);
            assertThat(sequenceValue(sequence.next(ArrayTensors.of("INPUT", new int[] {7}, 1, 1))))
                    .isEqualTo(7);
            assertThat(sequenceValue(sequence.last(ArrayTensors.of("INPUT", new int[] {5}, 1, 1))))
                    .isEqualTo(5);
            assertThatThrownBy(() -> sequence.next(ArrayTensors.of("INPUT", new int[] {5}, 1, 1)))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("has ended");
        }
    }

    @Test
    void shouldStreamTheAnswersOfDecoupledModels() {
        List<Integer> responses = new CopyOnWriteArrayList<>();
        List<String> failures = new CopyOnWriteArrayList<>();
        StreamReceiver receiver = new StreamReceiver() {
            @Override
            public void answer(InferResponse response, boolean last) {
                try (response) {
                    responses.add(response.ints("OUT")[0]);
                }
            }

            @Override
            public void failed(String id, ServerException failure) {
                failures.add(id + ": " + failure.code());
            }

            @Override
            public void broken(ClientException failure) {
                failures.add("broken");
            }

            @Override
            public void finished() {
                failures.add("finished");
            }
        };
        try (Gatun gatun = Gatun.embedded(ServerProcess.exampleModels())) {
            GatunClient client = gatun.client();
            InferStream stream = client.stream(receiver);
            int[] values = {4, 2, 0, 1};
            stream.send(repeat(values, "kept"));
            values[0] = 99; // the request that was sent must not see this
            stream.send(InferRequest.to("repeat_int32")
                    .id("wrong")
                    .input("IN", values, 4)
                    .build());
            stream.close();
            assertThat(responses).containsExactly(4, 2, 0, 1);
            assertThat(failures).containsExactly("wrong: INVALID_ARGUMENT", "finished");
            assertThatThrownBy(() -> stream.send(repeat(values, "late"))).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> client.infer(repeat(values, "single")))
                    .isInstanceOfSatisfying(ServerException.class, failure -> assertThat(failure.code())
                            .isEqualTo(StatusCode.UNIMPLEMENTED));
        }
    }

    @Test
    void shouldGiveUpWhatIsOverdueOrCancelled() throws IOException {
        new ModelRepositoryFolder(folder).delay("slow", 3_600_000);
        try (Gatun gatun = Gatun.embedded(folder)) {
            GatunClient client = gatun.client();
            InferRequest.Builder request = InferRequest.to("slow").input("IN", new int[] {1}, 1);
            CompletableFuture<InferResponse> cancelled = client.inferAsync(request.build());
            assertThatThrownBy(() ->
                            client.infer(request.deadline(Duration.ofMillis(50)).build()))
                    .isInstanceOf(DeadlineException.class)
                    .hasMessageContaining("'slow'")
                    .hasMessageContaining("50 ms");
            assertThat(cancelled.cancel(true)).isTrue();
            assertThat(cancelled).isCancelled();
            // The server closes at once, and not after an hour: so the run was given up.
        }
    }

    @Test
    void shouldControlItsModels() throws IOException {
        new ModelRepositoryFolder(folder).simple("simple", "", 1, 2);
        try (Gatun gatun = Gatun.embedded(folder, "--model-control-mode=explicit")) {
            GatunClient client = gatun.client();
            assertThat(client.server().live()).isTrue();
            assertThat(client.server().ready()).isTrue();
            assertThat(client.server().metadata().name()).isEqualTo("gatun");
            assertThat(client.server().metadata().extensions()).contains("binary_tensor_data");
            assertThat(client.models().ready("simple", "")).isFalse();
            client.models().load("simple");
            assertThat(client.models().ready("simple", "")).isTrue();
            assertThat(client.models().metadata("simple").versions()).containsExactly("2");
            assertThat(client.models().metadata("simple").inputs()).hasSize(2);
            assertThat(client.models().config("simple", "").getBackend()).isEqualTo("onnxruntime");
            assertThat(client.models().index(true)).containsExactly(new RepositoryModel("simple", "2", "READY", ""));
            client.models().unload("simple");
            assertThatThrownBy(() -> client.infer(simple("simple")))
                    .isInstanceOfSatisfying(ServerException.class, failure -> assertThat(failure.code())
                            .isIn(StatusCode.UNAVAILABLE, StatusCode.NOT_FOUND));
            assertThatThrownBy(() -> client.models().load("simple", "{", Map.of()))
                    .isInstanceOf(ServerException.class);
        }
    }

    @Test
    void shouldRefuseMisuse() {
        Gatun gatun = Gatun.embedded(ServerProcess.exampleModels());
        GatunClient client = gatun.client();
        MemorySegment freed;
        try (Arena arena = Arena.ofConfined()) {
            freed = arena.allocate(64, 64);
        }
        InferRequest request = InferRequest.to("simple")
                .input("INPUT0", SimpleModel.LEFT, 1, 16)
                .input("INPUT1", Datatype.INT32, freed, 1, 16)
                .build();
        assertThatThrownBy(() -> client.infer(request))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("'INPUT1'")
                .hasMessageContaining("was freed");
        assertThatThrownBy(() -> InferRequest.to("simple").input("INPUT0", Datatype.INT32, freed, 1, 17))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("too small");
        InferResponse response = client.infer(simple("simple"));
        assertThatThrownBy(() -> response.floats("OUTPUT0"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("INT32")
                .hasMessageContaining("use ints()");
        response.close();
        assertThatThrownBy(() -> response.ints("OUTPUT0"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("was closed");
        client.close();
        assertThat(client.server().live()).isTrue();
        gatun.close();
        gatun.close();
        assertThat(client.server().live()).isFalse();
        assertThatThrownBy(() -> client.infer(simple("simple")))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("embedded server was closed");
        assertThatThrownBy(() -> Gatun.embedded(ServerProcess.exampleModels(), "--http-prot=1"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("--http-port");
        assertThatThrownBy(() -> Gatun.embedded(folder.resolve("missing")))
                .isInstanceOf(GatunException.class)
                .hasMessageContaining("is not a folder");
    }

    @Test
    void shouldSayInTheExceptionWhyModelsCannotBeServed() throws IOException {
        ModelRepositoryFolder repository = new ModelRepositoryFolder(folder);
        repository.delay("first", 1);
        repository.config("first", "backend: \"no_such_backend\"");
        repository.delay("second", 1);
        repository.config("second", "max_batch_size: -3");
        assertThatThrownBy(() -> Gatun.embedded(folder))
                .isInstanceOf(GatunException.class)
                .hasMessageContaining("2 models cannot be served: model 'first'")
                .hasMessageContaining("no_such_backend")
                .hasMessageContaining("model 'second'")
                .hasMessageContaining("max_batch_size")
                .hasMessageNotContaining("table");
    }

    private static int sequenceValue(InferResponse response) {
        try (response) {
            return response.ints("OUTPUT")[0];
        }
    }

    private static InferRequest simple(String model) {
        return InferRequest.to(model)
                .input("INPUT0", SimpleModel.LEFT, 1, 16)
                .input("INPUT1", SimpleModel.RIGHT, 1, 16)
                .build();
    }

    private static InferRequest repeat(int[] values, String id) {
        return InferRequest.to("repeat_int32")
                .id(id)
                .input("IN", values, values.length)
                .input("DELAY", Datatype.UINT32, MemorySegment.ofArray(new int[values.length]), values.length)
                .input("WAIT", Datatype.UINT32, MemorySegment.ofArray(new int[1]), 1)
                .build();
    }

    private static CompletableFuture<HttpResponse<String>> post(HttpClient http, String url, String json) {
        return http.sendAsync(
                HttpRequest.newBuilder(URI.create(url + "/v2/models/shared/infer"))
                        .POST(HttpRequest.BodyPublishers.ofString(json))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }
}
