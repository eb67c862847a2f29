// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import gatun.client.ClientOptions;
import gatun.client.Compression;
import gatun.client.GatunClient;
import gatun.client.InferRequest;
import gatun.client.InferResponse;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The many forms in which HTTP and the protocol let a server say the same. */
@Timeout(60)
class ResponseFormsTest {
    private static final String JSON =
            "{\"model_name\":\"m\",\"model_version\":\"1\",\"outputs\":[{\"name\":\"OUT\",\"datatype\":\"INT32\","
                    + "\"shape\":[2],\"data\":[7,-8]}]}";
    private static final String HEADER =
            "{\"model_name\":\"m\",\"model_version\":\"1\",\"outputs\":[{\"name\":\"OUT\",\"datatype\":\"INT32\","
                    + "\"shape\":[2],\"parameters\":{\"binary_data_size\":8}}]}";
    private static final String BINARY = "\7\0\0\0\u00f8\u00ff\u00ff\u00ff";
    private static final String LENGTH = "Inference-Header-Content-Length: " + HEADER.length();

    private static String chunked(String version, String body, String... headers) {
        StringBuilder answer = new StringBuilder(version).append(" 200 OK\r\nTransfer-Encoding: chunked\r\n");
        for (String header : headers) {
            answer.append(header).append("\r\n");
        }
        answer.append("\r\n");
        for (int at = 0; at < body.length(); at += 10) {
            String piece = body.substring(at, Math.min(body.length(), at + 10));
            answer.append(Integer.toHexString(piece.length()))
                    .append(at == 0 ? ";name=\"value\"" : "")
                    .append("\r\n")
                    .append(piece)
                    .append("\r\n");
        }
        return answer.append("0\r\nChecksum: 1\r\nOther: 2\r\n\r\n").toString();
    }

    private static String gzip(String text) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(bytes)) {
            out.write(text.getBytes(ISO_8859_1));
        }
        return bytes.toString(ISO_8859_1);
    }

    private static String deflate(String text) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DeflaterOutputStream out = new DeflaterOutputStream(bytes)) {
            out.write(text.getBytes(ISO_8859_1));
        }
        return bytes.toString(ISO_8859_1);
    }

    static Stream<Arguments> shouldUnderstandAnyForm() throws IOException {
        String late = "{\"outputs\":[{\"data\":[[7],[-8]],\"parameters\":{\"content_type\":\"x\"},\"shape\":[2],"
                + "\"datatype\":\"INT32\",\"name\":\"OUT\",\"more\":{\"a\":[1]}}],\"model_version\":1,"
                + "\"id\":null,\"parameters\":null,\"model_name\":\"m\"}";
        return Stream.of(
                Arguments.of("JSON", true, ScriptedServer.ok(JSON)),
                Arguments.of("binary", true, ScriptedServer.ok(HEADER + BINARY, LENGTH)),
                Arguments.of("other keys, other order, nested data", true, ScriptedServer.ok(late)),
                Arguments.of("blanks in JSON", true, ScriptedServer.ok("\r\n " + JSON + "\n")),
                Arguments.of(
                        "header names in any case, blanks around values",
                        true,
                        "HTTP/1.1 200\r\ncontent-LENGTH:\t " + (HEADER + BINARY).length()
                                + " \t\r\nINFERENCE-HEADER-CONTENT-LENGTH:" + HEADER.length() + "\r\n\r\n" + HEADER
                                + BINARY),
                Arguments.of("chunks", true, chunked("HTTP/1.1", JSON)),
                Arguments.of("binary in chunks", true, chunked("HTTP/1.1", HEADER + BINARY, LENGTH)),
                Arguments.of(
                        "line ends without carriage returns",
                        true,
                        "HTTP/1.1 200 OK\nContent-Length: " + JSON.length() + "\n\n" + JSON),
                Arguments.of(
                        "interim answers first",
                        true,
                        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
                                + ScriptedServer.ok(JSON)),
                Arguments.of(
                        "until the connection ends",
                        false,
                        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + JSON),
                Arguments.of("closing", false, ScriptedServer.ok(HEADER + BINARY, LENGTH, "Connection: foo, close")),
                Arguments.of(
                        "HTTP/1.0", false, "HTTP/1.0 200 OK\r\nContent-Length: " + JSON.length() + "\r\n\r\n" + JSON),
                Arguments.of(
                        "HTTP/1.0 that stays open",
                        true,
                        "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: " + JSON.length() + "\r\n\r\n"
                                + JSON),
                Arguments.of("gzip", true, ScriptedServer.ok(gzip(JSON), "Content-Encoding: gzip")),
                Arguments.of(
                        "gzip with binary",
                        true,
                        ScriptedServer.ok(gzip(HEADER + BINARY), LENGTH, "Content-Encoding: gzip")),
                Arguments.of("gzip in chunks", true, chunked("HTTP/1.1", gzip(JSON), "Content-Encoding: GZip")),
                Arguments.of(
                        "deflate",
                        true,
                        ScriptedServer.ok(deflate(HEADER + BINARY), LENGTH, "Content-Encoding: deflate")));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource
    void shouldUnderstandAnyForm(String form, boolean persistent, String answer) throws Exception {
        assertThat(form).isNotEmpty();
        try (ScriptedServer server = ScriptedServer.start(conversation -> {
                    while (conversation.read().isPresent()) {
                        conversation.say(answer);
                        if (!persistent) {
                            return;
                        }
                    }
                });
                GatunClient client =
                        GatunClient.connect(ClientOptions.of(server.url()).withCompression(Compression.GZIP))) {
            for (int call = 0; call < 3; call++) {
                try (InferResponse response = client.infer("m")) {
                    assertThat(response.model()).isEqualTo("m");
                    assertThat(response.version()).isEqualTo("1");
                    assertThat(response.id()).isEmpty();
                    assertThat(response.ints("OUT")).containsExactly(7, -8);
                    assertThat(response.output("OUT").spec().shape()).isEqualTo(Shape.of(2));
                }
            }
            assertThat(server.connections()).isEqualTo(persistent ? 1 : 3);
        }
    }

    @Test
    void shouldUnderstandAnAnswerThatComesByteByByte() throws Exception {
        String answer = ScriptedServer.ok(HEADER + BINARY, LENGTH);
        try (ScriptedServer server = ScriptedServer.start(conversation -> {
                    conversation.read();
                    for (int i = 0; i < answer.length(); i++) {
                        conversation.say(answer.substring(i, i + 1));
                    }
                    conversation.awaitEnd();
                });
                GatunClient client = server.client();
                InferResponse response = client.infer("m")) {
            assertThat(response.ints("OUT")).containsExactly(7, -8);
        }
    }

    static Stream<Arguments> shouldReadElementsOfEveryDatatypeFromJson() {
        return Stream.of(
                Arguments.of(Datatype.BOOL, "true,false,1", new byte[] {1, 0, 1}),
                Arguments.of(Datatype.INT8, "-128,127,0", new byte[] {-128, 127, 0}),
                Arguments.of(Datatype.UINT8, "255,0,1", new byte[] {-1, 0, 1}),
                Arguments.of(Datatype.INT16, "-32768,1,2", new byte[] {0, -128, 1, 0, 2, 0}),
                Arguments.of(Datatype.UINT16, "65535,1,2", new byte[] {-1, -1, 1, 0, 2, 0}),
                Arguments.of(Datatype.UINT32, "4294967295,1,2", new byte[] {-1, -1, -1, -1, 1, 0, 0, 0, 2, 0, 0, 0}),
                Arguments.of(Datatype.INT64, "-9223372036854775808,1,9223372036854775807", new byte[] {
                    0, 0, 0, 0, 0, 0, 0, -128, 1, 0, 0, 0, 0, 0, 0, 0, -1, -1, -1, -1, -1, -1, -1, 127
                }),
                Arguments.of(Datatype.UINT64, "18446744073709551615,1,9223372036854775807", new byte[] {
                    -1, -1, -1, -1, -1, -1, -1, -1, 1, 0, 0, 0, 0, 0, 0, 0, -1, -1, -1, -1, -1, -1, -1, 127
                }),
                Arguments.of(
                        Datatype.FP32, "1,NaN,-Infinity", new byte[] {0, 0, -128, 63, 0, 0, -64, 127, 0, 0, -128, -1}),
                Arguments.of(Datatype.FP64, "1,-0.0,2e0", new byte[] {
                    0, 0, 0, 0, 0, 0, -16, 63, 0, 0, 0, 0, 0, 0, 0, -128, 0, 0, 0, 0, 0, 0, 0, 64
                }),
                Arguments.of(Datatype.BYTES, "\"a\",\"\",\"\\u00e4\"", new byte[] {
                    1, 0, 0, 0, 'a', 0, 0, 0, 0, 2, 0, 0, 0, (byte) 0xC3, (byte) 0xA4
                }));
    }

    @ParameterizedTest
    @MethodSource
    void shouldReadElementsOfEveryDatatypeFromJson(Datatype datatype, String data, byte[] expected) throws Exception {
        try (ScriptedServer server =
                        ScriptedServer.saying(ScriptedServer.ok("{\"outputs\":[{\"name\":\"OUT\",\"datatype\":\""
                                + datatype + "\",\"shape\":[1,3],\"data\":[" + data + "]}]}"));
                GatunClient client = server.client();
                InferResponse response = client.infer("m")) {
            assertThat(response.bytes("OUT")).isEqualTo(expected);
        }
    }

    @Test
    void shouldTellOutputsInRegionsFromThoseWithoutElements() throws Exception {
        try (ScriptedServer server = ScriptedServer.saying(ScriptedServer.ok(
                        "{\"model_name\":\"m\",\"id\":\"7\",\"parameters\":{\"a\":1,\"b\":2.5,\"c\":true,\"d\":\"x\",\"e\":{}},"
                                + "\"outputs\":[{\"name\":\"HERE\",\"datatype\":\"FP32\",\"shape\":[2,0]},"
                                + "{\"name\":\"THERE\",\"datatype\":\"FP32\",\"shape\":[2]},"
                                + "{\"name\":\"NONE\",\"datatype\":\"BYTES\",\"shape\":[0],"
                                + "\"parameters\":{\"binary_data_size\":0}}]}"));
                GatunClient client = server.client();
                InferResponse response = client.infer(InferRequest.to("m")
                        .outputInRegion("THERE", "region", 64, 8)
                        .build())) {
            assertThat(response.outputs())
                    .extracting(output -> output.spec().name())
                    .containsExactly("HERE", "NONE");
            assertThat(response.floats("HERE")).isEmpty();
            assertThat(response.strings("NONE")).isEmpty();
            assertThat(response.inRegions())
                    .extracting(spec -> spec.name() + spec.shape())
                    .isEqualTo(List.of("THERE[2]"));
            assertThat(response.parameters()).isEqualTo(Map.of("a", 1L, "b", 2.5, "c", true, "d", "x"));
            assertThat(response.id()).isEqualTo("7");
        }
    }

    @Test
    void shouldNotTakeOneAnswerForAnotherOfTheSameLength() throws Exception {
        String[] values = {"7", "8", "8", "9"};
        try (ScriptedServer server = ScriptedServer.start(conversation -> {
                    for (String value : values) {
                        conversation.read();
                        String json = HEADER.replace("\"1\"", "\"" + value + "\"");
                        conversation.say(ScriptedServer.ok(json + BINARY, LENGTH));
                    }
                });
                GatunClient client = server.client()) {
            for (String value : values) {
                try (InferResponse response = client.infer("m")) {
                    assertThat(response.version()).isEqualTo(value);
                    assertThat(response.ints("OUT")).containsExactly(7, -8);
                }
            }
        }
    }
}
