// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.client.ArrayTensors;
import gatun.client.ClientOptions;
import gatun.client.Compression;
import gatun.client.GatunClient;
import gatun.client.InferRequest;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.zip.GZIPInputStream;
import java.util.zip.InflaterInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The client's requests, byte by byte. */
@Timeout(60)
class RequestsOnTheWireTest {
    private final BlockingQueue<ScriptedServer.Request> requests = new LinkedBlockingQueue<>();
    private final ScriptedServer server = ScriptedServer.start(conversation -> {
        for (var request = conversation.read(); request.isPresent(); request = conversation.read()) {
            requests.add(request.get());
            conversation.say(ScriptedServer.ok("{\"outputs\":[]}"));
        }
    });

    @AfterEach
    void stop() throws IOException {
        server.close();
    }

    private ScriptedServer.Request sent(ClientOptions options, InferRequest request) throws InterruptedException {
        try (GatunClient client = GatunClient.connect(options)) {
            client.infer(request).close();
        }
        return requests.take();
    }

    private static InferRequest small() {
        return InferRequest.to("m")
                .version("3")
                .id("a\"b")
                .parameter("note", "x")
                .input("I", new int[] {1, -2}, 2)
                .input("S", new String[] {"\u00e4", ""}, 1, 2)
                .inputInRegion("R", Datatype.FP32, Shape.of(4), "region", 64, 16)
                .output("O")
                .classes("C", 5)
                .outputInRegion("P", "region", 0, 128)
                .build();
    }

    @Test
    void shouldSendTensorsBehindTheJson() throws Exception {
        ScriptedServer.Request request = sent(server.options().withToken("secret"), small());
        String json = "{\"id\":\"a\\\"b\",\"parameters\":{\"note\":\"x\"},\"inputs\":["
                + "{\"name\":\"I\",\"shape\":[2],\"datatype\":\"INT32\",\"parameters\":{\"binary_data_size\":8}},"
                + "{\"name\":\"S\",\"shape\":[1,2],\"datatype\":\"BYTES\",\"parameters\":{\"binary_data_size\":10}},"
                + "{\"name\":\"R\",\"shape\":[4],\"datatype\":\"FP32\",\"parameters\":{\"shared_memory_region\":\"region\","
                + "\"shared_memory_offset\":64,\"shared_memory_byte_size\":16}}],"
                + "\"outputs\":[{\"name\":\"O\",\"parameters\":{\"binary_data\":true}},"
                + "{\"name\":\"C\",\"parameters\":{\"classification\":5,\"binary_data\":true}},"
                + "{\"name\":\"P\",\"parameters\":{\"shared_memory_region\":\"region\",\"shared_memory_byte_size\":128}}]}";
        assertThat(request.requestLine()).isEqualTo("POST /v2/models/m/versions/3/infer HTTP/1.1");
        assertThat(request.header("host")).hasValue(server.url().substring("http://".length()));
        assertThat(request.header("authorization")).hasValue("Bearer secret");
        assertThat(request.header("inference-header-content-length")).hasValue(Integer.toString(json.length()));
        assertThat(request.body())
                .isEqualTo(json + "\1\0\0\0\u00fe\u00ff\u00ff\u00ff" + "\2\0\0\0\u00c3\u00a4\0\0\0\0");
    }

    @Test
    void shouldAskForBinaryOutputsWhereNoneIsNamed() throws Exception {
        assertThat(sent(server.options(), InferRequest.to("m").build()).body())
                .isEqualTo("{\"parameters\":{\"binary_data_output\":true},\"inputs\":[]}");
    }

    @Test
    void shouldSendTensorsInTheJsonForServersThatKnowNothingElse() throws Exception {
        InferRequest request = InferRequest.to("m")
                .input(ArrayTensors.of("b", new boolean[] {true, false}))
                .input("f", new float[] {1.5f, Float.NaN}, 2)
                .input("u", Datatype.UINT64, MemorySegment.ofArray(new long[] {-1, 1}), 2)
                .input(ArrayTensors.of("i", Datatype.INT8, new byte[] {-1, 1}, 2))
                .input(ArrayTensors.of("v", Datatype.UINT8, new byte[] {-1, 1}, 2))
                .input("s", new String[] {"\u00e4\"", ""}, 2)
                .output("O")
                .build();
        ScriptedServer.Request sent = sent(server.options().withBinaryTensors(false), request);
        assertThat(sent.header("content-type")).hasValue("application/json");
        assertThat(sent.header("inference-header-content-length")).isEmpty();
        assertThat(new String(sent.body().getBytes(ISO_8859_1), UTF_8))
                .isEqualTo("{\"inputs\":["
                        + "{\"name\":\"b\",\"shape\":[2],\"datatype\":\"BOOL\",\"data\":[true,false]},"
                        + "{\"name\":\"f\",\"shape\":[2],\"datatype\":\"FP32\",\"data\":[1.5,NaN]},"
                        + "{\"name\":\"u\",\"shape\":[2],\"datatype\":\"UINT64\",\"data\":[18446744073709551615,1]},"
                        + "{\"name\":\"i\",\"shape\":[2],\"datatype\":\"INT8\",\"data\":[-1,1]},"
                        + "{\"name\":\"v\",\"shape\":[2],\"datatype\":\"UINT8\",\"data\":[255,1]},"
                        + "{\"name\":\"s\",\"shape\":[2],\"datatype\":\"BYTES\",\"data\":[\"\u00e4\\\"\",\"\"]}],"
                        + "\"outputs\":[{\"name\":\"O\",\"parameters\":{\"binary_data\":false}}]}");
    }

    @Test
    void shouldRefuseWhatJsonHasNoFormFor() {
        try (GatunClient client = GatunClient.connect(server.options().withBinaryTensors(false))) {
            assertThatThrownBy(() -> client.infer("m", ArrayTensors.of("h", Datatype.FP16, new byte[2], 1)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("'h' FP16 has no form in JSON");
            assertThatThrownBy(() -> client.infer(
                            "m", ArrayTensors.of("s", Datatype.BYTES, new byte[] {1, 0, 0, 0, (byte) 0xFF}, 1)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("no text in UTF-8");
            assertThatThrownBy(() ->
                            client.infer("m", ArrayTensors.of("s", Datatype.BYTES, new byte[] {9, 0, 0, 0, 1}, 1)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("expected 1 elements");
        }
        assertThat(server.connections()).isZero();
    }

    @Test
    void shouldCompressBodies() throws Exception {
        String plain = sent(server.options(), small()).body();
        for (Compression compression : List.of(Compression.GZIP, Compression.DEFLATE)) {
            String name = compression == Compression.GZIP ? "gzip" : "deflate";
            ScriptedServer.Request request = sent(server.options().withCompression(compression), small());
            assertThat(request.header("content-encoding")).hasValue(name);
            assertThat(request.header("accept-encoding")).hasValue(name);
            InputStream body = new ByteArrayInputStream(request.body().getBytes(ISO_8859_1));
            try (InputStream decompressed =
                    compression == Compression.GZIP ? new GZIPInputStream(body) : new InflaterInputStream(body)) {
                assertThat(new String(decompressed.readAllBytes(), ISO_8859_1)).isEqualTo(plain);
            }
        }
    }

    @Test
    void shouldSendLargeTensorsFromAnyMemory() throws Exception {
        int[] values = new int[300_000];
        for (int i = 0; i < values.length; i++) {
            values[i] = i * 31;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment outside = arena.allocateFrom(ValueLayout.JAVA_INT, values);
            InferRequest request = InferRequest.to("m")
                    .input("heap", values, values.length)
                    .input("native", Datatype.INT32, outside, values.length)
                    .input("small", new int[] {7}, 1)
                    .input("again", Datatype.INT32, outside.asSlice(4, 40_000), 10_000)
                    .build();
            ScriptedServer.Request sent = sent(server.options(), request);
            int json = Integer.parseInt(
                    sent.header("inference-header-content-length").orElseThrow());
            String body = sent.body().substring(json);
            String all = new String(outside.toArray(ValueLayout.JAVA_BYTE), ISO_8859_1);
            assertThat(body).isEqualTo(all + all + "\7\0\0\0" + all.substring(4, 40_004));
        }
    }

    @Test
    void shouldPutTogetherAgainForAnotherClientWhatOneHasSent() throws Exception {
        InferRequest request = InferRequest.to("m").build();
        assertThat(sent(server.options().withHeader("x-who", "first"), request).header("x-who"))
                .hasValue("first");
        assertThat(sent(server.options().withHeader("x-who", "second"), request).header("x-who"))
                .hasValue("second");
    }

    @Test
    void shouldEncodeNamesInPathsAndKeepThePrefix() throws Exception {
        InferRequest request = InferRequest.to("a b/c?\u00e4%").build();
        assertThat(sent(ClientOptions.of(server.url() + "/prefix/"), request).requestLine())
                .isEqualTo("POST /prefix/v2/models/a%20b%2Fc%3F%C3%A4%25/infer HTTP/1.1");
    }

    @Test
    void shouldRefuseHeadersThatWouldBeTwo() {
        for (String[] header :
                new String[][] {{"a", "b\r\nc: d"}, {"a\nb", "c"}, {"", "x"}, {"a b", "c"}, {"a", "\u20ac"}}) {
            assertThatThrownBy(() -> GatunClient.connect(server.options().withHeader(header[0], header[1])))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("cannot be sent over HTTP")
                    .hasMessageNotContaining("c: d");
        }
    }

    @Test
    void shouldRefuseMemoryThatWasFreedOrIsAnothersThread() {
        try (GatunClient client = server.client()) {
            InferRequest freed;
            try (Arena arena = Arena.ofShared()) {
                freed = InferRequest.to("m")
                        .input("IN", Datatype.FP32, arena.allocate(ValueLayout.JAVA_FLOAT, 4), 4)
                        .build();
            }
            assertThatThrownBy(() -> client.infer(freed))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("the memory of tensor 'IN' was freed");
            try (Arena arena = Arena.ofConfined()) {
                InferRequest confined = InferRequest.to("m")
                        .input("IN", Datatype.FP32, arena.allocate(ValueLayout.JAVA_FLOAT, 4), 4)
                        .build();
                assertThatThrownBy(() -> client.inferAsync(confined).join())
                        .cause()
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("confined to another thread");
            }
        }
    }
}
