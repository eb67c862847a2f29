// SPDX-License-Identifier: Apache-2.0
package gatun.v2.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.google.protobuf.ByteString;
import gatun.memory.regions.RegionStatus;
import gatun.protocol.testing.TestServer;
import gatun.protocol.testing.TestServerSettings;
import gatun.v2.protocol.V2Protocol;
import gatun.wire.inference.CudaSharedMemoryRegisterRequest;
import gatun.wire.inference.CudaSharedMemoryStatusRequest;
import gatun.wire.inference.CudaSharedMemoryStatusResponse;
import gatun.wire.inference.CudaSharedMemoryUnregisterRequest;
import gatun.wire.inference.GRPCInferenceServiceGrpc;
import gatun.wire.inference.InferBatchStatistics;
import gatun.wire.inference.InferStatistics;
import gatun.wire.inference.LogSettingsRequest;
import gatun.wire.inference.LogSettingsResponse;
import gatun.wire.inference.ModelConfigRequest;
import gatun.wire.inference.ModelMetadataRequest;
import gatun.wire.inference.ModelMetadataResponse;
import gatun.wire.inference.ModelReadyRequest;
import gatun.wire.inference.ModelStatisticsRequest;
import gatun.wire.inference.ModelStatisticsResponse;
import gatun.wire.inference.RepositoryIndexRequest;
import gatun.wire.inference.RepositoryIndexResponse;
import gatun.wire.inference.ServerLiveRequest;
import gatun.wire.inference.ServerMetadataRequest;
import gatun.wire.inference.ServerMetadataResponse;
import gatun.wire.inference.ServerReadyRequest;
import gatun.wire.inference.SystemSharedMemoryRegisterRequest;
import gatun.wire.inference.SystemSharedMemoryStatusRequest;
import gatun.wire.inference.SystemSharedMemoryUnregisterRequest;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.reflection.v1.ServerReflectionGrpc;
import io.grpc.reflection.v1.ServerReflectionRequest;
import io.grpc.reflection.v1.ServerReflectionResponse;
import io.grpc.stub.StreamObserver;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

@Timeout(60)
class ControlServiceTest {
    @RegisterExtension
    final ServiceFixture service = new ServiceFixture();

    private final GRPCInferenceServiceGrpc.GRPCInferenceServiceBlockingStub stub = service.stub();

    private static Status failure(Runnable call) {
        StatusRuntimeException failure = catchThrowableOfType(StatusRuntimeException.class, call::run);
        assertThat(failure).as("the call fails").isNotNull();
        return failure.getStatus();
    }

    @Test
    void shouldTellItsHealth() {
        assertThat(stub.serverLive(ServerLiveRequest.getDefaultInstance()).getLive())
                .isTrue();
        assertThat(stub.serverReady(ServerReadyRequest.getDefaultInstance()).getReady())
                .isTrue();

        service.server().ready(false);

        assertThat(stub.serverReady(ServerReadyRequest.getDefaultInstance()).getReady())
                .isFalse();
    }

    @Test
    void shouldTellWhatTheServerIs() {
        ServerMetadataResponse metadata = stub.serverMetadata(ServerMetadataRequest.getDefaultInstance());

        assertThat(metadata.getName()).isEqualTo("fake");
        assertThat(metadata.getVersion()).isEqualTo("1.2");
        assertThat(metadata.getExtensionsList()).containsExactly("statistics", "system_shared_memory");
    }

    @Test
    void shouldTellWhetherAModelIsReady() {
        assertThat(stub.modelReady(
                                ModelReadyRequest.newBuilder().setName("echo").build())
                        .getReady())
                .isTrue();
        assertThat(stub.modelReady(
                                ModelReadyRequest.newBuilder().setName("nobody").build())
                        .getReady())
                .isFalse();
    }

    @Test
    void shouldTellWhatAModelIs() {
        ModelMetadataResponse metadata = stub.modelMetadata(
                ModelMetadataRequest.newBuilder().setName("echo").build());

        assertThat(metadata.getName()).isEqualTo("echo");
        assertThat(metadata.getPlatform()).isEqualTo("fake_platform");
        assertThat(metadata.getVersionsList()).containsExactly("1", "3");
        assertThat(metadata.getInputs(0).getDatatype()).isEqualTo("FP32");
        assertThat(metadata.getInputs(0).getShapeList()).containsExactly(-1L, 16L);
        assertThat(metadata.getOutputs(0).getName()).isEqualTo("OUT");
        assertThat(stub.modelMetadata(ModelMetadataRequest.newBuilder()
                                .setName("echo")
                                .setVersion("3")
                                .build())
                        .getVersionsList())
                .containsExactly("3");
        assertThat(stub.modelConfig(
                                ModelConfigRequest.newBuilder().setName("echo").build())
                        .getConfig()
                        .getMaxBatchSize())
                .isEqualTo(8);
    }

    @Test
    void shouldListTheRepository() {
        RepositoryIndexResponse all = stub.repositoryIndex(RepositoryIndexRequest.getDefaultInstance());
        RepositoryIndexResponse ready = stub.repositoryIndex(
                RepositoryIndexRequest.newBuilder().setReady(true).build());

        assertThat(all.getModelsList())
                .extracting(RepositoryIndexResponse.ModelIndex::getState)
                .containsExactly("READY", "UNAVAILABLE");
        assertThat(all.getModels(1).getReason()).isEqualTo("it is broken");
        assertThat(ready.getModelsList())
                .extracting(RepositoryIndexResponse.ModelIndex::getName)
                .containsExactly("echo");
        Status named = failure(() -> stub.repositoryIndex(
                RepositoryIndexRequest.newBuilder().setRepositoryName("r").build()));
        assertThat(named.getCode()).isEqualTo(Status.Code.UNIMPLEMENTED);
        assertThat(named.getDescription()).isEqualTo("'repository_name' specification is not supported");
    }

    @Test
    void shouldReserveHeapForAnswersAboutManyModels() {
        service.server().listMany(1000);
        assertThat(stub.repositoryIndex(RepositoryIndexRequest.getDefaultInstance())
                        .getModelsCount())
                .isEqualTo(1000);

        service.server().listMany(100_000);
        Status index = failure(() -> stub.repositoryIndex(RepositoryIndexRequest.getDefaultInstance()));
        Status statistics = failure(() -> stub.modelStatistics(ModelStatisticsRequest.getDefaultInstance()));

        assertThat(index.getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(index.getDescription()).contains("limit-heap-byte-size");
        assertThat(statistics.getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
    }

    @Test
    void shouldTellStatistics() {
        ModelStatisticsResponse statistics = stub.modelStatistics(ModelStatisticsRequest.getDefaultInstance());

        assertThat(statistics.getModelStatsCount()).isEqualTo(1);
        InferStatistics times = statistics.getModelStats(0).getInferenceStats();
        assertThat(statistics.getModelStats(0).getInferenceCount()).isEqualTo(6 + 4 * 4);
        assertThat(statistics.getModelStats(0).getExecutionCount()).isEqualTo(10);
        assertThat(statistics.getModelStats(0).getLastInference()).isEqualTo(1_700_000_000_000L);
        assertThat(times.getSuccess().getCount()).isEqualTo(10);
        assertThat(times.getSuccess().getNs()).isEqualTo(100);
        assertThat(times.getFail().getCount()).isEqualTo(10);
        assertThat(times.getFail().getNs()).isEqualTo(50);
        assertThat(times.getComputeInfer().getNs()).isEqualTo(12 + 15);
        InferBatchStatistics four = statistics.getModelStats(0).getBatchStats(1);
        assertThat(four.getBatchSize()).isEqualTo(4);
        assertThat(four.getComputeOutput().getCount()).isEqualTo(4);
        assertThat(four.getComputeOutput().getNs()).isEqualTo(16);
        assertThat(failure(() -> stub.modelStatistics(
                                ModelStatisticsRequest.newBuilder().setName("x").build()))
                        .getDescription())
                .isEqualTo("requested model 'x' is not available");
        assertThat(failure(() -> stub.modelStatistics(ModelStatisticsRequest.newBuilder()
                                .setName("echo")
                                .setVersion("9")
                                .build()))
                        .getDescription())
                .isEqualTo("requested model version is not available for model 'echo'");
    }

    @Test
    void shouldRegisterListAndForgetRegions() {
        SystemSharedMemoryRegisterRequest register = SystemSharedMemoryRegisterRequest.newBuilder()
                .setName("r")
                .setKey("/key")
                .setOffset(16)
                .setByteSize(64)
                .build();
        assertThat(stub.systemSharedMemoryRegister(register).getSerializedSize())
                .isZero();
        assertThat(failure(() -> stub.systemSharedMemoryRegister(register)).getCode())
                .isEqualTo(Status.Code.ALREADY_EXISTS);

        SystemSharedMemoryStatusRequest all = SystemSharedMemoryStatusRequest.getDefaultInstance();
        assertThat(stub.systemSharedMemoryStatus(all).getRegionsMap()).containsOnlyKeys("r");
        assertThat(stub.systemSharedMemoryStatus(all).getRegionsOrThrow("r").getOffset())
                .isEqualTo(16);
        assertThat(failure(() -> stub.systemSharedMemoryStatus(SystemSharedMemoryStatusRequest.newBuilder()
                                .setName("other")
                                .build()))
                        .getCode())
                .isEqualTo(Status.Code.NOT_FOUND);

        stub.systemSharedMemoryUnregister(
                SystemSharedMemoryUnregisterRequest.newBuilder().setName("r").build());
        assertThat(stub.systemSharedMemoryStatus(all).getRegionsMap()).isEmpty();
    }

    @Test
    void shouldKeepCudaRegionsApartFromThoseOfTheSystem() {
        service.server().regions().register("s", "/s", 0, 8);
        stub.cudaSharedMemoryRegister(CudaSharedMemoryRegisterRequest.newBuilder()
                .setName("g")
                .setRawHandle(ByteString.copyFrom(new byte[64]))
                .setDeviceId(1)
                .setByteSize(16)
                .build());
        assertThat(stub.cudaSharedMemoryStatus(CudaSharedMemoryStatusRequest.getDefaultInstance())
                        .getRegionsMap())
                .containsExactly(Map.entry(
                        "g",
                        CudaSharedMemoryStatusResponse.RegionStatus.newBuilder()
                                .setName("g")
                                .setDeviceId(1)
                                .setByteSize(16)
                                .build()));
        assertThat(stub.systemSharedMemoryStatus(SystemSharedMemoryStatusRequest.getDefaultInstance())
                        .getRegionsMap())
                .containsOnlyKeys("s");
        assertThat(failure(() -> stub.cudaSharedMemoryStatus(CudaSharedMemoryStatusRequest.newBuilder()
                                .setName("s")
                                .build()))
                        .getCode())
                .isEqualTo(Status.Code.NOT_FOUND);

        // Regions of the other kind stay registered, also when all of a kind are unregistered.
        stub.cudaSharedMemoryUnregister(
                CudaSharedMemoryUnregisterRequest.newBuilder().setName("s").build());
        stub.systemSharedMemoryUnregister(
                SystemSharedMemoryUnregisterRequest.newBuilder().setName("g").build());
        assertThat(service.server().regions().statuses()).hasSize(2);
        stub.systemSharedMemoryUnregister(SystemSharedMemoryUnregisterRequest.getDefaultInstance());
        assertThat(service.server().regions().statuses())
                .extracting(RegionStatus::name)
                .containsExactly("g");
        stub.cudaSharedMemoryUnregister(CudaSharedMemoryUnregisterRequest.getDefaultInstance());
        assertThat(service.server().regions().statuses()).isEmpty();
    }

    @Test
    void shouldRefuseRegionsUnlessTheyAreAllowed() {
        try (TestServer closed = new TestServer(
                service.server(), TestServerSettings.usual().withClientSharedMemory(false), V2Protocol::new)) {
            GRPCInferenceServiceGrpc.GRPCInferenceServiceBlockingStub client =
                    GRPCInferenceServiceGrpc.newBlockingStub(closed.channel());
            Status register = failure(
                    () -> client.systemSharedMemoryRegister(SystemSharedMemoryRegisterRequest.getDefaultInstance()));
            Status unregister = failure(() ->
                    client.systemSharedMemoryUnregister(SystemSharedMemoryUnregisterRequest.getDefaultInstance()));

            Status cuda = failure(
                    () -> client.cudaSharedMemoryRegister(CudaSharedMemoryRegisterRequest.getDefaultInstance()));
            Status cudaGone = failure(
                    () -> client.cudaSharedMemoryUnregister(CudaSharedMemoryUnregisterRequest.getDefaultInstance()));

            for (Status refusal : new Status[] {register, unregister, cuda, cudaGone}) {
                assertThat(refusal.getCode()).isEqualTo(Status.Code.UNIMPLEMENTED);
                assertThat(refusal.getDescription())
                        .isEqualTo("Client shared memory is disabled. Start the server with 'allow-client-shm=true' to"
                                + " enable.");
            }
            assertThat(client.systemSharedMemoryStatus(SystemSharedMemoryStatusRequest.getDefaultInstance())
                            .getRegionsMap())
                    .isEmpty();
        }
    }

    private LogSettingsResponse setLog(String name, LogSettingsRequest.SettingValue.Builder value) {
        return stub.logSettings(
                LogSettingsRequest.newBuilder().putSettings(name, value.build()).build());
    }

    private static LogSettingsRequest.SettingValue.Builder logValue() {
        return LogSettingsRequest.SettingValue.newBuilder();
    }

    @Test
    void shouldChangeTheLog() {
        assertThat(setLog("log_warning", logValue().setBoolParam(false))
                        .getSettingsOrThrow("log_warning")
                        .getBoolParam())
                .isFalse();
        LogSettingsResponse after = setLog("log_verbose_level", logValue().setUint32Param(3));
        assertThat(after.getSettingsMap())
                .containsOnlyKeys(
                        "log_file", "log_info", "log_warning", "log_error", "log_verbose_level", "log_format");
        assertThat(after.getSettingsOrThrow("log_verbose_level").getUint32Param())
                .isEqualTo(3);
        assertThat(after.getSettingsOrThrow("log_warning").getBoolParam()).isFalse();
        assertThat(after.getSettingsOrThrow("log_format").getStringParam()).isEqualTo("default");
    }

    @Test
    void shouldRefuseSettingsOfTheLogThatCannotBe() {
        Status file = failure(() -> setLog("log_file", logValue().setStringParam("/tmp/x")));
        assertThat(file.getCode()).isEqualTo(Status.Code.UNIMPLEMENTED);
        assertThat(file.getDescription()).isEqualTo("log file location can not be updated through network protocol");
        assertThat(failure(() -> setLog("log_info", logValue().setUint32Param(1)))
                        .getDescription())
                .isEqualTo("expect boolean for 'log_info'");
        assertThat(failure(() -> setLog("log_verbose_level", logValue().setBoolParam(true)))
                        .getDescription())
                .isEqualTo("expect int32 for 'log_verbose_level'");
        Status format = failure(() -> setLog("log_format", logValue().setStringParam("loud")));
        assertThat(format.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
        assertThat(format.getDescription()).isEqualTo("invalid argument for log_format, got: loud");
    }

    @Test
    void shouldAnswerReflection() throws Exception {
        CompletableFuture<ServerReflectionResponse> answer = new CompletableFuture<>();
        StreamObserver<ServerReflectionRequest> requests = ServerReflectionGrpc.newStub(service.channel())
                .serverReflectionInfo(new StreamObserver<>() {
                    @Override
                    public void onNext(ServerReflectionResponse response) {
                        answer.complete(response);
                    }

                    @Override
                    public void onError(Throwable t) {
                        answer.completeExceptionally(t);
                    }

                    @Override
                    public void onCompleted() {
                        answer.cancel(false);
                    }
                });
        requests.onNext(ServerReflectionRequest.newBuilder().setListServices("").build());

        assertThat(answer.get(20, TimeUnit.SECONDS).getListServicesResponse().getServiceList())
                .extracting(service -> service.getName())
                .contains(
                        "inference.GRPCInferenceService",
                        "grpc.health.v1.Health",
                        "grpc.reflection.v1alpha.ServerReflection");
        requests.onCompleted();
    }
}
