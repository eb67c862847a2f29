// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.memory.regions.SharedMemoryObject;
import gatun.memory.tensor.BytesCodec;
import gatun.protocol.testing.ListenerUnderTest;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SharedMemoryTest {
    private static final String ROOT = "/v2/systemsharedmemory";
    private static final String KEY =
            "/gatun_http_test_" + ProcessHandle.current().pid();
    private static final int OBJECT_BYTES = 8192;

    private static ListenerUnderTest edge;

    @BeforeAll
    static void start(@TempDir Path repository) {
        ListenerUnderTest.writeModel(repository, "floats", 0, "TYPE_FP32 [ -1 ]");
        ListenerUnderTest.writeModel(repository, "strings", 0, "TYPE_STRING [ -1 ]");
        edge = V2TestServer.start(repository);
    }

    @AfterAll
    static void stop() {
        edge.close();
    }

    @AfterEach
    void shouldHaveGivenEveryBufferBack() {
        edge.regions().unregisterAll();
        edge.awaitNothingLent();
    }

    @Test
    void shouldReadInputsFromAndWriteOutputsToTheClientsMemory() {
        try (SharedMemoryObject object = SharedMemoryObject.posix(KEY, OBJECT_BYTES)) {
            register("r", object.key(), 0, OBJECT_BYTES);
            MemorySegment memory = object.segment();
            memory.set(ValueLayout.JAVA_FLOAT, 64, 1.5f);
            memory.set(ValueLayout.JAVA_FLOAT, 68, -2f);

            HttpResponse<String> response = edge.post("/v2/models/floats/infer", """
                    {"inputs":[{"name":"IN0","datatype":"FP32","shape":[2],"parameters":
                      {"shared_memory_region":"r","shared_memory_offset":64,"shared_memory_byte_size":8}}],
                     "outputs":[{"name":"OUT0","parameters":
                      {"shared_memory_region":"r","shared_memory_offset":128,"shared_memory_byte_size":100}}]}""");

            assertThat(response.body())
                    .isEqualTo("{\"model_name\":\"floats\",\"model_version\":\"1\",\"outputs\":["
                            + "{\"name\":\"OUT0\",\"datatype\":\"FP32\",\"shape\":[2]}]}");
            assertThat(memory.get(ValueLayout.JAVA_FLOAT, 128)).isEqualTo(1.5f);
            assertThat(memory.get(ValueLayout.JAVA_FLOAT, 132)).isEqualTo(-2f);
        }
    }

    @Test
    void shouldRefuseAnOutputThatOverlapsAnInput() {
        try (SharedMemoryObject object = SharedMemoryObject.posix(KEY, OBJECT_BYTES)) {
            register("r", object.key(), 0, OBJECT_BYTES);
            register("s", object.key(), 64, 4096);

            HttpResponse<String> response = edge.post("/v2/models/floats/infer", """
                    {"inputs":[{"name":"IN0","datatype":"FP32","shape":[2],"parameters":
                      {"shared_memory_region":"r","shared_memory_offset":64,"shared_memory_byte_size":8}}],
                     "outputs":[{"name":"OUT0","parameters":
                      {"shared_memory_region":"s","shared_memory_offset":4,"shared_memory_byte_size":8}}]}""");

            assertThat(response.statusCode()).isEqualTo(400);
            assertThat(response.body())
                    .contains("output 'OUT0' in shared memory region 's' overlaps input 'IN0' in region 'r'");
        }
    }

    @Test
    void shouldReadStringsFromTheClientsMemory() {
        try (SharedMemoryObject object = SharedMemoryObject.posix(KEY, OBJECT_BYTES)) {
            register("r", object.key(), 0, OBJECT_BYTES);
            List<String> texts = List.of("one", "zwölf");
            BytesCodec.encodeText(texts, object.segment());

            HttpResponse<String> response =
                    edge.post("/v2/models/strings/infer", """
                    {"inputs":[{"name":"IN0","datatype":"BYTES","shape":[2],"parameters":
                      {"shared_memory_region":"r","shared_memory_byte_size":%d}}]}""".formatted(BytesCodec.encodedTextByteSize(texts)));

            assertThat(response.body()).contains("\"data\":[\"one\",\"zwölf\"]");
        }
    }

    @Test
    void shouldAnswerClientsThatAskForCudaMemoryToo() {
        assertThat(edge.get("/v2/cudasharedmemory/status").body()).isEqualTo("[]");
        assertThat(edge.post("/v2/cudasharedmemory/unregister", "").statusCode())
                .isEqualTo(200);
        assertThat(edge.post("/v2/cudasharedmemory/region/r/unregister", "").statusCode())
                .isEqualTo(200);
        HttpResponse<String> unknown = edge.get("/v2/cudasharedmemory/region/r/status");
        assertThat(unknown.statusCode()).isEqualTo(404);
        assertThat(unknown.body()).contains("Unable to find cuda shared memory region: 'r'");
        HttpResponse<String> refused = edge.post("/v2/cudasharedmemory/region/r/register", "{}");
        assertThat(refused.statusCode()).isEqualTo(400);
        assertThat(refused.body())
                .contains(
                        edge.regions().supportsCuda()
                                ? "Shared memory register request has no 'raw_handle' field"
                                : "failed to register CUDA shared memory region: 'r', GPUs not supported");
        assertThat(edge.get("/v2/cudasharedmemory/nonsense").statusCode()).isEqualTo(404);
    }

    @Test
    void shouldListRegionsAndForgetThem() {
        try (SharedMemoryObject object = SharedMemoryObject.posix(KEY, OBJECT_BYTES)) {
            register("b", object.key(), 4096, 100);
            register("a", object.key(), 0, 8192);
            String a = "{\"name\":\"a\",\"key\":\"" + object.key() + "\",\"offset\":0,\"byte_size\":8192}";
            String b = "{\"name\":\"b\",\"key\":\"" + object.key() + "\",\"offset\":4096,\"byte_size\":100}";

            assertThat(edge.get(ROOT + "/status").body()).isEqualTo("[" + a + "," + b + "]");
            assertThat(edge.get(ROOT + "/region/b/status").body()).isEqualTo("[" + b + "]");

            assertThat(edge.post(ROOT + "/region/b/unregister", "").statusCode())
                    .isEqualTo(200);
            assertThat(edge.post(ROOT + "/region/unknown/unregister", "").statusCode())
                    .isEqualTo(200);
            assertThat(edge.get(ROOT + "/status").body()).isEqualTo("[" + a + "]");

            assertThat(edge.post(ROOT + "/unregister", "").statusCode()).isEqualTo(200);
            assertThat(edge.get(ROOT + "/status").body()).isEqualTo("[]");
        }
    }

    @Test
    void shouldSayWhyARegistrationFails() {
        assertFails(
                "/region/r/register", "{\"byte_size\":1}", 400, "Shared memory register request has no 'key' field");
        assertFails(
                "/region/r/register",
                "{\"key\":\"k\"}",
                400,
                "Shared memory register request has no 'byte_size' field");
        assertFails("/region/r/register", "", 400, "Shared memory register request has no 'key' field");
        assertFails("/region/r/register", "{\"key\":1}", 400, "attempt to access JSON non-string as string");
        assertFails(
                "/region/r/register",
                "{\"key\":\"k\",\"byte_size\":-1}",
                400,
                "attempt to access JSON non-unsigned-integer as unsigned-integer");
        assertFails(
                "/region/r/register",
                "{",
                400,
                "failed to parse the request JSON buffer: Missing a name for object" + " member. at 1");
        assertFails("/register", "{}", 400, "'region name' is necessary to register system shared memory region");
        assertFails(
                "/region/r/register",
                "{\"key\":\"/none\",\"byte_size\":64}",
                500,
                "Unable to open shared memory region: '/none'");
        assertThat(edge.get(ROOT + "/region/r/status").body())
                .isEqualTo("{\"error\":\"Unable to find system shared memory region: 'r'\"}");
        assertThat(edge.get(ROOT + "/region/r/status").statusCode()).isEqualTo(404);
        assertThat(edge.get(ROOT + "/region/r/register").statusCode()).isEqualTo(405);
        assertThat(edge.get(ROOT + "/region//status").statusCode()).isEqualTo(404);
        assertThat(edge.get(ROOT + "/other").statusCode()).isEqualTo(404);
    }

    @Test
    void shouldRefuseRegistrationWhereItIsNotAllowed(@TempDir Path repository) {
        try (ListenerUnderTest closed =
                V2TestServer.startWith(repository, settings -> settings.withClientSharedMemory(false))) {
            HttpResponse<String> response =
                    closed.post(ROOT + "/region/r/register", "{\"key\":\"/k\",\"byte_size\":1}");

            assertThat(response.statusCode()).isEqualTo(501);
            assertThat(response.body())
                    .isEqualTo("{\"error\":\"Client shared memory is disabled. Start the server with"
                            + " 'allow-client-shm=true' to enable.\"}");
            assertThat(closed.post(ROOT + "/unregister", "").statusCode()).isEqualTo(501);
            assertThat(closed.get(ROOT + "/status").body()).isEqualTo("[]");
            HttpResponse<String> cuda = closed.post("/v2/cudasharedmemory/region/r/register", "{}");
            assertThat(cuda.statusCode()).isEqualTo(501);
            assertThat(cuda.body()).isEqualTo(response.body());
            assertThat(closed.post("/v2/cudasharedmemory/unregister", "").statusCode())
                    .isEqualTo(501);
            assertThat(closed.get("/v2/cudasharedmemory/status").body()).isEqualTo("[]");
        }
    }

    private static void register(String name, String key, long offset, long byteSize) {
        HttpResponse<String> response = edge.post(
                ROOT + "/region/" + name + "/register",
                "{\"key\":\"" + key + "\",\"offset\":" + offset + ",\"byte_size\":" + byteSize + "}");
        assertThat(response.body()).isEmpty();
        assertThat(response.statusCode()).isEqualTo(200);
    }

    private static void assertFails(String path, String json, int status, String reason) {
        HttpResponse<String> response = edge.post(ROOT + path, json);
        assertThat(response.body()).isEqualTo("{\"error\":\"" + reason + "\"}");
        assertThat(response.statusCode()).isEqualTo(status);
    }
}
