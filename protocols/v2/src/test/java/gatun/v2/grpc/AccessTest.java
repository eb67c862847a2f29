// SPDX-License-Identifier: Apache-2.0
package gatun.v2.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import gatun.protocol.testing.TestServer;
import gatun.protocol.testing.TestServerSettings;
import gatun.runtime.access.ApiAccess;
import gatun.runtime.access.ApiGroup;
import gatun.runtime.access.HeaderForwarding;
import gatun.runtime.access.HeaderForwarding.HeaderRules;
import gatun.runtime.access.TokenFile;
import gatun.v1.protocol.V1Protocol;
import gatun.v2.protocol.V2Protocol;
import gatun.wire.inference.GRPCInferenceServiceGrpc;
import gatun.wire.inference.GRPCInferenceServiceGrpc.GRPCInferenceServiceBlockingStub;
import gatun.wire.inference.LogSettingsRequest;
import gatun.wire.inference.ModelConfigRequest;
import gatun.wire.inference.ModelInferRequest;
import gatun.wire.inference.ModelInferResponse;
import gatun.wire.inference.ModelStatisticsRequest;
import gatun.wire.inference.RepositoryIndexRequest;
import gatun.wire.inference.ServerLiveRequest;
import gatun.wire.inference.ServerMetadataRequest;
import gatun.wire.inference.SystemSharedMemoryStatusRequest;
import gatun.wire.inference.TraceSettingRequest;
import gatun.wire.v1.GRPCServiceGrpc;
import gatun.wire.v1.GRPCServiceGrpc.GRPCServiceBlockingStub;
import gatun.wire.v1.HealthRequest;
import gatun.wire.v1.InferRequest;
import gatun.wire.v1.ModelControlRequest;
import gatun.wire.v1.SharedMemoryControlRequest;
import gatun.wire.v1.StatusRequest;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.stub.MetadataUtils;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class AccessTest {
    private final FakeServer server = new FakeServer();

    @AfterEach
    void close() {
        server.awaitNothingHeld();
        server.close();
    }

    private static Metadata metadata(String name, String value) {
        Metadata metadata = new Metadata();
        metadata.put(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER), value);
        return metadata;
    }

    private static GRPCInferenceServiceBlockingStub stub(TestServer edge, Metadata metadata) {
        return GRPCInferenceServiceGrpc.newBlockingStub(edge.channel())
                .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(metadata));
    }

    private static Status failure(Runnable call) {
        StatusRuntimeException failure = catchThrowableOfType(StatusRuntimeException.class, call::run);
        assertThat(failure).as("the call fails").isNotNull();
        return failure.getStatus();
    }

    @Test
    void shouldRefuseARestrictedGroupWithoutItsMetadata() {
        Map<ApiGroup, ApiAccess.RequiredHeader> keys = new EnumMap<>(ApiGroup.class);
        for (ApiGroup group : ApiGroup.values()) {
            keys.put(group, new ApiAccess.RequiredHeader("key-of-" + group.wireName(), "secret"));
        }
        Map<ApiGroup, Consumer<GRPCInferenceServiceBlockingStub>> calls = Map.of(
                ApiGroup.HEALTH, stub -> stub.serverLive(ServerLiveRequest.getDefaultInstance()),
                ApiGroup.METADATA, stub -> stub.serverMetadata(ServerMetadataRequest.getDefaultInstance()),
                ApiGroup.INFERENCE,
                        stub -> stub.modelInfer(ServiceFixture.request().build()),
                ApiGroup.SHARED_MEMORY,
                        stub -> stub.systemSharedMemoryStatus(SystemSharedMemoryStatusRequest.getDefaultInstance()),
                ApiGroup.MODEL_CONFIG,
                        stub -> stub.modelConfig(ModelConfigRequest.newBuilder()
                                .setName(FakeServer.MODEL)
                                .build()),
                ApiGroup.MODEL_REPOSITORY, stub -> stub.repositoryIndex(RepositoryIndexRequest.getDefaultInstance()),
                ApiGroup.STATISTICS, stub -> stub.modelStatistics(ModelStatisticsRequest.getDefaultInstance()),
                ApiGroup.TRACE, stub -> stub.traceSetting(TraceSettingRequest.getDefaultInstance()),
                ApiGroup.LOGGING, stub -> stub.logSettings(LogSettingsRequest.getDefaultInstance()));
        // The console is for HTTP alone.
        assertThat(calls.keySet()).isEqualTo(EnumSet.complementOf(EnumSet.of(ApiGroup.CONSOLE)));
        try (TestServer edge = new TestServer(
                server,
                TestServerSettings.usual().withHeaders(HeaderRules.none().withAccess(new ApiAccess(keys, Map.of()))),
                V2Protocol::new,
                V1Protocol::new)) {
            calls.forEach((group, call) -> {
                String key = "key-of-" + group.wireName();
                Status refused = failure(() -> call.accept(stub(edge, metadata("other", "secret"))));
                assertThat(refused.getCode()).isEqualTo(Status.Code.UNAVAILABLE);
                assertThat(refused.getDescription())
                        .isEqualTo("This protocol is restricted, expecting header '" + key + "'");
                call.accept(stub(edge, metadata(key, "secret")));
            });
            assertThat(failure(() -> HealthGrpc.newBlockingStub(edge.channel())
                                    .check(HealthCheckRequest.getDefaultInstance()))
                            .getDescription())
                    .contains("key-of-health");
            GRPCServiceBlockingStub legacy = GRPCServiceGrpc.newBlockingStub(edge.channel());
            Map<String, Runnable> legacyCalls = Map.of(
                    "health", () -> legacy.health(HealthRequest.getDefaultInstance()),
                    "metadata", () -> legacy.status(StatusRequest.getDefaultInstance()),
                    "inference", () -> legacy.infer(InferRequest.getDefaultInstance()),
                    "model-repository", () -> legacy.modelControl(ModelControlRequest.getDefaultInstance()),
                    "shared-memory", () -> legacy.sharedMemoryControl(SharedMemoryControlRequest.getDefaultInstance()));
            legacyCalls.forEach(
                    (group, call) -> assertThat(failure(call).getDescription()).contains("key-of-" + group));
        }
    }

    @Test
    void shouldWantATokenOfTheGroupsFile(@TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("tokens"), "first\n");
        ApiAccess access = new ApiAccess(Map.of(), Map.of(ApiGroup.INFERENCE, TokenFile.open(file)));
        ModelInferRequest request = ServiceFixture.request().build();
        try (TestServer edge = new TestServer(
                server,
                TestServerSettings.usual().withHeaders(HeaderRules.none().withAccess(access)),
                V2Protocol::new,
                V1Protocol::new)) {
            Status refused = failure(() -> stub(edge, new Metadata()).modelInfer(request));
            assertThat(refused.getCode()).isEqualTo(Status.Code.UNAUTHENTICATED);
            assertThat(refused.getDescription()).contains("Authorization: Bearer TOKEN");
            assertThat(stub(edge, metadata("authorization", "Bearer first"))
                            .modelInfer(request)
                            .getModelName())
                    .isEqualTo(FakeServer.MODEL);
        }
    }

    @Test
    void shouldTakeNoOtherCredentialBesideAWrongOne(@TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("tokens"), "right\n");
        ApiAccess access = new ApiAccess(Map.of(), Map.of(ApiGroup.INFERENCE, TokenFile.open(file)));
        ModelInferRequest request = ServiceFixture.request().build();
        try (TestServer edge = new TestServer(
                server,
                TestServerSettings.usual().withHeaders(HeaderRules.none().withAccess(access)),
                V2Protocol::new,
                V1Protocol::new)) {
            for (String[] values : new String[][] {{"wrong", "right"}, {"right", "wrong"}, {"wrong", "wrong"}}) {
                assertThat(failure(() -> stub(edge, tokens(values)).modelInfer(request))
                                .getCode())
                        .isEqualTo(Status.Code.UNAUTHENTICATED);
            }
            assertThat(stub(edge, tokens("right", "right")).modelInfer(request).getModelName())
                    .isEqualTo(FakeServer.MODEL);
        }
    }

    private static Metadata tokens(String... tokens) {
        Metadata metadata = new Metadata();
        for (String token : tokens) {
            metadata.merge(metadata("authorization", "Bearer " + token));
        }
        return metadata;
    }

    @Test
    void shouldForwardMetadataButNoneThatTheProtocolHasForItself() {
        TestServerSettings settings = TestServerSettings.usual()
                .withHeaders(HeaderRules.none()
                        .withForwarding(HeaderForwarding.of(Pattern.compile("^(user-name|timeout)"))));
        ModelInferRequest request = ServiceFixture.request().build();
        try (TestServer edge = new TestServer(server, settings, V2Protocol::new, V1Protocol::new)) {
            ModelInferResponse response = stub(edge, metadata("user-name", "u")).modelInfer(request);
            assertThat(response.getParametersMap()).containsOnlyKeys("user-name");
            assertThat(response.getParametersOrThrow("user-name").getStringParam())
                    .isEqualTo("u");
            assertThat(stub(edge, metadata("user-name", " u  "))
                            .modelInfer(request)
                            .getParametersOrThrow("user-name")
                            .getStringParam())
                    .as("blanks at its ends, which HTTP/2 forbids and gRPC does not")
                    .isEqualTo(" u  ");
            Status reserved = failure(() -> stub(edge, metadata("timeout", "1")).modelInfer(request));
            assertThat(reserved.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
            assertThat(reserved.getDescription())
                    .isEqualTo("Header 'timeout' is reserved for Triton usage and cannot be forwarded.");
        }
    }
}
