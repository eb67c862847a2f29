// SPDX-License-Identifier: Apache-2.0
package gatun.v2.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.google.protobuf.ByteString;
import gatun.wire.inference.GRPCInferenceServiceGrpc;
import gatun.wire.inference.ModelRepositoryParameter;
import gatun.wire.inference.RepositoryModelLoadRequest;
import gatun.wire.inference.SystemSharedMemoryRegisterRequest;
import gatun.wire.inference.TraceSettingRequest;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Requests that control the server and are larger than they may be, or have texts that are. */
@Timeout(60)
class ControlLimitsTest {
    private static final String LONG_TEXT = "x".repeat((64 << 10) + 1);

    @RegisterExtension
    final ServiceFixture service = new ServiceFixture();

    private final GRPCInferenceServiceGrpc.GRPCInferenceServiceBlockingStub stub = service.stub();

    @AfterEach
    void awaitHeapBack() {
        while (service.server().heap().usedBytes() > 0) {
            LockSupport.parkNanos(1_000_000);
        }
    }

    private static void assertRefused(Runnable call, String... said) {
        StatusRuntimeException failure = catchThrowableOfType(StatusRuntimeException.class, call::run);
        assertThat(failure).as("the call fails").isNotNull();
        assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(failure.getStatus().getDescription()).contains(said);
    }

    private static RepositoryModelLoadRequest load(String name, ModelRepositoryParameter.Builder value) {
        return RepositoryModelLoadRequest.newBuilder()
                .setModelName("m")
                .putParameters(name, value.build())
                .build();
    }

    @Test
    void shouldRefuseALongName() {
        assertRefused(
                () -> stub.systemSharedMemoryRegister(SystemSharedMemoryRegisterRequest.newBuilder()
                        .setName(LONG_TEXT)
                        .build()),
                "'name' has 65537 bytes",
                "limit-text-byte-size");
    }

    @Test
    void shouldRefuseALongTextWithinASetting() {
        TraceSettingRequest.SettingValue value = TraceSettingRequest.SettingValue.newBuilder()
                .addValue("a")
                .addValue(LONG_TEXT)
                .build();

        assertRefused(
                () -> stub.traceSetting(TraceSettingRequest.newBuilder()
                        .putSettings("trace_level", value)
                        .build()),
                "'value' has 65537 bytes");
    }

    @Test
    void shouldRefuseAMessageThatIsTooLargeBeforeItReadsIt() {
        TraceSettingRequest.SettingValue.Builder value = TraceSettingRequest.SettingValue.newBuilder();
        for (int i = 0; i < 2_500_000; i++) {
            value.addValue("");
        }

        assertRefused(
                () -> stub.traceSetting(TraceSettingRequest.newBuilder()
                        .putSettings("trace_level", value.build())
                        .build()),
                "limit-control-byte-size");
    }

    @Test
    void shouldRefuseAConfigurationThatIsTooLarge() {
        assertRefused(
                () -> stub.repositoryModelLoad(
                        load("config", ModelRepositoryParameter.newBuilder().setStringParam("x".repeat(5 << 20)))),
                "limit-control-byte-size");
    }

    @Test
    void shouldTakeAConfigurationThatIsLongerThanOtherTexts() {
        stub.repositoryModelLoad(
                load("config", ModelRepositoryParameter.newBuilder().setStringParam(LONG_TEXT)));

        assertThat(service.server().loads).hasSize(1);
    }

    @Test
    void shouldTakeFilesThatAreLargerThanControlRequestsMayBe() {
        ByteString file = ByteString.copyFrom(new byte[5 << 20]);

        stub.repositoryModelLoad(
                load("file:1/model.onnx", ModelRepositoryParameter.newBuilder().setBytesParam(file)));

        assertThat(service.server().loads).containsExactly("m  [1/model.onnx]");
    }
}
