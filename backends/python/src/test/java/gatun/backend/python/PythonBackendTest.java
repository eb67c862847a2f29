// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.regions.SharedRegions;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.server.GatunServer;
import gatun.runtime.server.ServerOptions;
import gatun.testing.Python;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Python models as the runtime finds and drives them. */
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PythonBackendTest {
    private static final String CONFIG = """
            backend: "python"
            input [ { name: "IN" data_type: TYPE_FP32 dims: [ -1 ] } ]
            output [ { name: "OUT" data_type: TYPE_FP32 dims: [ -1 ] } ]
            instance_group [ { count: 1 kind: KIND_CPU } ]
            """;

    private static final String DECOUPLED = CONFIG + "model_transaction_policy { decoupled: true }";

    /** Doubles; ends its process for what is negative. */
    private static final String DOUBLE = """
            import os
            import triton_python_backend_utils as pb_utils

            class TritonPythonModel:
                def execute(self, requests):
                    responses = []
                    for request in requests:
                        values = pb_utils.get_input_tensor_by_name(request, "IN").as_numpy()
                        if values[0] < 0:
                            os._exit(3)
                        responses.append(pb_utils.InferenceResponse([pb_utils.Tensor("OUT", values * 2)]))
                    return responses
            """;

    /** Asks model "double" twice; fails as it does. */
    private static final String ASK = """
            import triton_python_backend_utils as pb_utils

            class TritonPythonModel:
                def execute(self, requests):
                    return [pb_utils.InferenceResponse([self.ask(self.ask(
                        pb_utils.get_input_tensor_by_name(request, "IN")))]) for request in requests]

                def ask(self, tensor):
                    response = pb_utils.InferenceRequest(
                        model_name="double",
                        requested_output_names=["OUT"],
                        inputs=[pb_utils.Tensor("IN", tensor.as_numpy())]).exec()
                    if response.has_error():
                        raise pb_utils.TritonModelException(response.error().message())
                    return pb_utils.get_output_tensor_by_name(response, "OUT")
            """;

    /** Sends each element as a response of its own, after execute has returned. */
    private static final String SPREAD = """
            import threading
            import triton_python_backend_utils as pb_utils

            class TritonPythonModel:
                def execute(self, requests):
                    for request in requests:
                        values = pb_utils.get_input_tensor_by_name(request, "IN").as_numpy().copy()
                        threading.Thread(target=self.spread, args=(values, request.get_response_sender())).start()

                def spread(self, values, sender):
                    for i in range(len(values)):
                        sender.send(pb_utils.InferenceResponse([pb_utils.Tensor("OUT", values[i:i + 1])]))
                    sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
            """;

    /** Says how many cores its threads may run on. */
    private static final String COUNT_CORES = """
            import os
            import threading
            import numpy
            import triton_python_backend_utils as pb_utils

            class TritonPythonModel:
                def execute(self, requests):
                    counts = [len(os.sched_getaffinity(0))]
                    thread = threading.Thread(target=lambda: counts.append(len(os.sched_getaffinity(0))))
                    thread.start()
                    thread.join()
                    tensor = pb_utils.Tensor("OUT", numpy.array(counts, numpy.float32))
                    return [pb_utils.InferenceResponse([tensor])]
            """;

    /** Says that its outputs lie where there is no memory. */
    private static final String LIAR = """
            from gatun_worker_lib import memory

            memory.ResponseMemory.write = lambda self, array: 1 << 40

            """ + DOUBLE;

    private final BufferPool pool = new BufferPool(16 << 20);
    private final SharedRegions regions = SharedRegions.open(pool);

    @SuppressWarnings("NullAway.Init") // set before each use
    private GatunServer server;

    @BeforeAll
    void open(@TempDir Path repository) throws IOException {
        model(repository, "double", CONFIG, DOUBLE);
        model(repository, "mortal", CONFIG, DOUBLE);
        model(repository, "ask", CONFIG, ASK);
        model(repository, "spread", DECOUPLED, SPREAD);
        model(repository, "liar", CONFIG, LIAR);
        model(repository, "count_cores", CONFIG, COUNT_CORES);
        server = GatunServer.open(ServerOptions.of(pool, regions)
                .repository(repository)
                .backendOption("python", "executable", Python.with("numpy"))
                .backendOption("python", "memory-byte-size", "8388608"));
    }

    private static void model(Path repository, String name, String config, String code) throws IOException {
        Path version = Files.createDirectories(repository.resolve(name).resolve("1"));
        Files.writeString(repository.resolve(name).resolve("config.pbtxt"), config);
        Files.writeString(version.resolve("model.py"), code);
    }

    @AfterAll
    void nothingShouldBeLeft() {
        server.close();
        regions.close();
        assertThat(pool.usedBytes()).isZero();
        pool.close();
    }

    private InferenceRequest request(String model, float... values) {
        InferenceRequest request = new InferenceRequest(server.model(model, ""));
        Buffer buffer = pool.take((long) values.length * Float.BYTES);
        request.hold(buffer);
        for (int i = 0; i < values.length; i++) {
            buffer.segment().setAtIndex(ValueLayout.JAVA_FLOAT, i, values[i]);
        }
        request.addInput(new Tensor(new TensorSpec("IN", Datatype.FP32, Shape.of(values.length)), buffer.segment()));
        return request;
    }

    private static float[] floats(InferenceResponse response) {
        return response.outputs().getFirst().tensor().bytes().toArray(ValueLayout.JAVA_FLOAT);
    }

    private float[] answer(String model, float... values) {
        try (InferenceRequest request = request(model, values);
                InferenceResponse response = server.infer(request)) {
            return floats(response);
        }
    }

    @Test
    void shouldAnswer() {
        assertThat(answer("double", 1, 2.5f)).containsExactly(2, 5);
        // More than the memory holds at a time: what was answered is given back.
        float[] large = new float[1 << 19];
        large[large.length - 1] = 3;
        for (int i = 0; i < 20; i++) {
            assertThat(answer("double", large)[large.length - 1]).isEqualTo(6);
        }
    }

    /** More runs than the server needs to try whether it helps to have the process wake up on its own core. */
    @Test
    void shouldLeaveAModelAllCores() {
        float[] atFirst = answer("count_cores", 1);
        for (int i = 0; i < 60; i++) {
            assertThat(answer("count_cores", 1)).containsExactly(atFirst);
        }
    }

    @Test
    void shouldAskOtherModels() {
        assertThat(answer("ask", 1, 2)).containsExactly(4, 8);
        float[] large = new float[1 << 18];
        large[large.length - 1] = 3;
        for (int i = 0; i < 20; i++) {
            assertThat(answer("ask", large)[large.length - 1]).isEqualTo(12);
        }
    }

    @Test
    void shouldGiveTheResponsesThatComeAfterExecuteHasReturned() {
        List<Float> received = new ArrayList<>();
        try (InferenceRequest request = request("spread", 1, 2, 3)) {
            server.infer(request, (response, last) -> {
                try (response) {
                    received.add(floats(response)[0]);
                }
            });
        }
        assertThat(received).containsExactly(1f, 2f, 3f);
    }

    @Test
    void shouldKeepAResponseThoughItsProcessEndsAndGoOnWithTheNext() {
        try (InferenceRequest request = request("mortal", 1, 2);
                InferenceResponse response = server.infer(request)) {
            assertThatThrownBy(() -> answer("mortal", -1))
                    .isInstanceOfSatisfying(
                            GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INTERNAL))
                    .hasMessageContaining("exited with status 3");
            assertThat(answer("mortal", 7)).containsExactly(14);
            assertThat(floats(response)).containsExactly(2, 4);
        }
    }

    @Test
    void shouldEndAProcessThatNamesMemoryWhichItDoesNotHave() {
        assertThatThrownBy(() -> answer("liar", 1))
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INTERNAL))
                .hasMessageContaining(
                        "was ended by the server, because it said what the server does not understand: the"
                                + " process of instance 'liar_0_0' names memory that it does not have");
    }
}
