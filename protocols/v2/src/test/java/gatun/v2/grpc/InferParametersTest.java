// SPDX-License-Identifier: Apache-2.0
package gatun.v2.grpc;

import static gatun.v2.grpc.ServiceFixture.input;
import static gatun.v2.grpc.ServiceFixture.number;
import static gatun.v2.grpc.ServiceFixture.random;
import static gatun.v2.grpc.ServiceFixture.request;
import static gatun.v2.grpc.ServiceFixture.text;
import static org.assertj.core.api.Assertions.assertThat;

import gatun.spi.CorrelationId;
import gatun.wire.inference.GRPCInferenceServiceGrpc;
import gatun.wire.inference.InferParameter;
import gatun.wire.inference.ModelInferResponse;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

@Timeout(60)
class InferParametersTest {
    @RegisterExtension
    final ServiceFixture service = new ServiceFixture();

    private final GRPCInferenceServiceGrpc.GRPCInferenceServiceBlockingStub stub = service.stub();

    @Test
    void shouldGiveParametersTheirMeaning() {
        ModelInferResponse response = stub.modelInfer(request()
                .putParameters(
                        "priority",
                        InferParameter.newBuilder().setUint64Param(2).build())
                .putParameters("timeout", number(5000))
                .putParameters("sequence_id", text("s"))
                .putParameters(
                        "sequence_start",
                        InferParameter.newBuilder().setBoolParam(true).build())
                .putParameters("mine", text("value"))
                .putParameters(
                        "ratio", InferParameter.newBuilder().setDoubleParam(0.5).build())
                .addInputs(input("A", "UINT8", 1))
                .addRawInputContents(random(1))
                .build());

        assertThat(service.server().lastPriority).isEqualTo(2);
        assertThat(service.server().lastTimeoutMicros).isEqualTo(5000);
        assertThat(service.server().lastCorrelationId).contains(new CorrelationId.Text("s"));
        assertThat(service.server().lastStart).isTrue();
        assertThat(service.server().lastEnd).isFalse();
        assertThat(service.server().lastParameters).containsOnlyKeys("mine", "ratio");
        assertThat(response.getParametersMap())
                .containsEntry("mine", text("value"))
                .containsEntry(
                        "ratio", InferParameter.newBuilder().setDoubleParam(0.5).build());
    }

    @Test
    void shouldTakeTheNumberOfASequenceAsUnsigned() {
        stub.modelInfer(request()
                .putParameters("sequence_id", number(-1))
                .putParameters(
                        "sequence_end",
                        InferParameter.newBuilder().setBoolParam(true).build())
                .build());

        assertThat(service.server().lastCorrelationId)
                .hasValueSatisfying(id -> assertThat(id).hasToString("18446744073709551615"));
        assertThat(service.server().lastEnd).isTrue();
    }

    @Test
    void shouldTakeZeroAndTheEmptyTextForNoSequence() {
        stub.modelInfer(request().putParameters("sequence_id", number(0)).build());
        assertThat(service.server().lastCorrelationId).isEmpty();
        stub.modelInfer(request().putParameters("sequence_id", text("")).build());
        assertThat(service.server().lastCorrelationId).isEmpty();
    }

    @Test
    void shouldRefuseWhatIsWrongWithParameters() {
        service.assertInvalid(
                "invalid value type for 'sequence_id' parameter, expected int64_param or string_param.",
                r -> r.putParameters(
                        "sequence_id",
                        InferParameter.newBuilder().setBoolParam(true).build()));
        service.assertInvalid(
                "invalid value type for 'sequence_start' parameter, expected bool_param.",
                r -> r.putParameters("sequence_start", number(1)));
        service.assertInvalid(
                "invalid value for 'priority', expected value >= 0.", r -> r.putParameters("priority", number(-1)));
        service.assertInvalid(
                "invalid value type for 'priority' parameter, expected int64_param or uint64_param.",
                r -> r.putParameters("priority", text("1")));
        service.assertInvalid(
                "invalid value type for 'timeout' parameter, expected int64_param.",
                r -> r.putParameters("timeout", text("1")));
        service.assertInvalid(
                "parameter keys starting with 'triton_' are reserved for Triton usage. Only the following keys"
                        + " starting with"
                        + " 'triton_' are allowed: triton_enable_empty_final_response",
                r -> r.putParameters("triton_x", number(1)));
        service.assertInvalid(
                "invalid value type for 'mine' parameter, expected int64_param, bool_param, or string_param.",
                r -> r.putParameters(
                        "mine", InferParameter.newBuilder().setUint64Param(1).build()));
        service.assertInvalid(
                "invalid value type for 'mine' parameter, expected int64_param, bool_param, or string_param.",
                r -> r.putParameters("mine", InferParameter.getDefaultInstance()));
    }
}
