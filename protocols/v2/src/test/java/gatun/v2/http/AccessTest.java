// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.protocol.testing.ListenerUnderTest;
import gatun.runtime.access.ApiAccess;
import gatun.runtime.access.ApiGroup;
import gatun.runtime.access.HeaderForwarding;
import gatun.runtime.access.HeaderForwarding.HeaderRules;
import gatun.runtime.access.TokenFile;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AccessTest {
    private static final String INFER =
            "{\"inputs\":[{\"name\":\"IN0\",\"datatype\":\"INT32\",\"shape\":[2],\"data\":[1,2]}]}";

    @TempDir
    Path repository;

    @BeforeEach
    void write() {
        ListenerUnderTest.writeModel(repository, "m", 0, "TYPE_INT32 [ 2 ]");
    }

    @ParameterizedTest
    @CsvSource({
        "GET, /v2, metadata",
        "GET, /v2/models/m, metadata",
        "GET, /v2/models/m/versions/1, metadata",
        "GET, /v2/health/live, health",
        "GET, /v2/health/ready, health",
        "GET, /v2/models/m/ready, health",
        "GET, /v2/models/m/versions/1/ready, health",
        "POST, /v2/models/m/infer, inference",
        "POST, /v2/models/m/generate, inference",
        "POST, /v2/models/m/versions/1/generate_stream, inference",
        "GET, /v2/models/m/config, model-config",
        "GET, /v2/models/m/stats, statistics",
        "GET, /v2/models/stats, statistics",
        "POST, /v2/repository/index, model-repository",
        "POST, /v2/repository/models/m/load, model-repository",
        "POST, /v2/repository/r/models/m/unload, model-repository",
        "GET, /v2/systemsharedmemory/status, shared-memory",
        "POST, /v2/cudasharedmemory/region/r/register, shared-memory",
        "GET, /v2/trace/setting, trace",
        "POST, /v2/models/m/trace/setting, trace",
        "GET, /v2/logging, logging",
        "GET, /api/health/ready, health",
        "GET, /api/status/m, metadata",
        "POST, /api/infer/m/1, inference",
        "POST, /api/modelcontrol/load/m, model-repository",
        "GET, /api/repository/index, model-repository",
        "GET, /api/sharedmemorycontrol/status, shared-memory",
        "POST, /api/sharedmemorycontrol/unregisterall, shared-memory"
    })
    void shouldRefuseARestrictedGroupWithoutItsHeader(String method, String path, String group) {
        Map<ApiGroup, ApiAccess.RequiredHeader> keys = new EnumMap<>(ApiGroup.class);
        for (ApiGroup each : ApiGroup.values()) {
            keys.put(each, new ApiAccess.RequiredHeader("key-of-" + each.wireName(), "secret"));
        }
        try (ListenerUnderTest edge = V2TestServer.startWith(
                repository,
                settings -> settings.withHeaders(HeaderRules.none().withAccess(new ApiAccess(keys, Map.of()))))) {
            HttpRequest.Builder request = edge.request(path).method(method, HttpRequest.BodyPublishers.ofString("{}"));
            HttpResponse<String> refused = edge.send(request.build());
            assertThat(refused.statusCode()).isEqualTo(403);
            assertThat(refused.body())
                    .isEqualTo("{\"error\":\"This API is restricted, expecting header 'key-of-" + group + "'\"}");
            HttpResponse<String> admitted =
                    edge.send(request.header("Key-Of-" + group, "secret").build());
            assertThat(admitted.statusCode()).isNotEqualTo(403);
            assertThat(edge.get("/v2/nothing").statusCode()).isEqualTo(404);
        }
    }

    @Test
    void shouldWantATokenOfTheGroupsFile() throws IOException {
        Path file = Files.writeString(repository.resolve("tokens"), "first\nsecond\n");
        ApiAccess access = new ApiAccess(Map.of(), Map.of(ApiGroup.INFERENCE, TokenFile.open(file)));
        try (ListenerUnderTest edge = V2TestServer.startWith(
                repository, settings -> settings.withHeaders(HeaderRules.none().withAccess(access)))) {
            HttpRequest.Builder request =
                    edge.request("/v2/models/m/infer").POST(HttpRequest.BodyPublishers.ofString(INFER));
            HttpResponse<String> refused = edge.send(request.build());
            assertThat(refused.statusCode()).isEqualTo(401);
            assertThat(refused.headers().firstValue("WWW-Authenticate")).hasValue("Bearer");
            assertThat(refused.body()).contains("Authorization: Bearer TOKEN");
            assertThat(edge.send(request.copy()
                                    .header("Authorization", "Bearer third")
                                    .build())
                            .statusCode())
                    .isEqualTo(401);
            assertThat(edge.send(request.header("Authorization", "Bearer second")
                                    .build())
                            .statusCode())
                    .isEqualTo(200);
            assertThat(edge.get("/v2").statusCode()).isEqualTo(200);
        }
    }

    @Test
    void shouldTellBrowsersWhatPagesMayDoBeforeTheySendKeys() {
        ApiAccess access =
                new ApiAccess(Map.of(ApiGroup.INFERENCE, new ApiAccess.RequiredHeader("key", "secret")), Map.of());
        String page = "https://console.example";
        try (ListenerUnderTest edge = V2TestServer.startWith(
                repository, settings -> settings.withHeaders(HeaderRules.none().withAccess(access))
                        .withAllowedOrigins(Set.of(page)))) {
            HttpResponse<String> allowed = edge.send(edge.request("/v2/models/m/infer")
                    .method("OPTIONS", HttpRequest.BodyPublishers.noBody())
                    .header("Origin", page)
                    .header("Access-Control-Request-Method", "POST")
                    .header("Access-Control-Request-Headers", "key")
                    .build());
            assertThat(allowed.statusCode()).isEqualTo(204);
            assertThat(allowed.headers().firstValue("Access-Control-Allow-Headers"))
                    .hasValue("key");
            assertThat(edge.post("/v2/models/m/infer", INFER).statusCode()).isEqualTo(403);
        }
    }

    @Test
    void shouldForwardHeadersButNoneThatTheProtocolHasForItself() {
        HeaderForwarding forwarding = HeaderForwarding.of(Pattern.compile("^(user-|priority)"));
        try (ListenerUnderTest edge = V2TestServer.startWith(
                repository, settings -> settings.withHeaders(HeaderRules.none().withForwarding(forwarding)))) {
            HttpRequest.Builder infer =
                    edge.request("/v2/models/m/infer").POST(HttpRequest.BodyPublishers.ofString(INFER));
            assertThat(edge.send(infer.copy().header("user-name", "u").build()).statusCode())
                    .isEqualTo(200);
            HttpResponse<String> reserved =
                    edge.send(infer.header("priority", "1").build());
            assertThat(reserved.statusCode()).isEqualTo(400);
            assertThat(reserved.body())
                    .isEqualTo(
                            "{\"error\":\"Header 'priority' is reserved for Triton usage and cannot be forwarded.\"}");
        }
    }
}
