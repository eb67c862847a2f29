// SPDX-License-Identifier: Apache-2.0
package gatun.it.structure;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.client.ServerException;
import gatun.client.StatusCode;
import gatun.grpc.message.StatusTable;
import gatun.http.connection.Exchange;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.tensorflow.serving.http.RestResponse;
import gatun.v1.V1Api.RequestStatuses;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The page of failures in the documentation, which is made from the protocols' tables of statuses. */
class ErrorReferenceIT {
    /** What a code means, and what a client does about it. */
    private record Advice(String meaning, String action) {}

    private static Advice advice(ErrorCode code) {
        return switch (code) {
            case INVALID_ARGUMENT -> new Advice("the request is wrong", "correct the request, as the text says");
            case NOT_FOUND ->
                new Advice(
                        "no such model, version, region or path",
                        "check the name; load the model, or register the region");
            case UNAVAILABLE ->
                new Advice(
                        "the server cannot answer now: overload, start, stop, or a model that is not ready",
                        "try again after a pause, or at another server");
            case RESOURCE_EXHAUSTED ->
                new Advice(
                        "the request is more than a limit lets through",
                        "send less, or raise the limit that the text names");
            case UNSUPPORTED ->
                new Advice(
                        "the server does not do this, or not with its settings",
                        "use what the text names, or start it with that flag");
            case PERMISSION_DENIED -> new Advice("the client may not do this", "ask the operator");
            case ALREADY_EXISTS -> new Advice("the name is taken", "choose another, or remove the one that has it");
            case CANCELLED -> new Advice("the client went away, or cancelled", "nothing");
            case INTERNAL ->
                new Advice(
                        "a fault of the server or an engine",
                        "read the server's log; try again if the request may run twice");
            case UNKNOWN -> new Advice("nothing better is known", "as for INTERNAL");
        };
    }

    private static Status grpc(ErrorCode code) {
        return StatusTable.toStatus(new GatunException(code, "a failure"));
    }

    private static StatusCode client(ErrorCode code) {
        return Arrays.stream(StatusCode.values())
                .filter(candidate -> candidate.number() == code.number())
                .findFirst()
                .orElseThrow();
    }

    private static String row(ErrorCode code) {
        Advice advice = advice(code);
        boolean mayHaveRun = new ServerException(client(code), 0, "a failure").mayHaveRun();
        return "| `%s` | %d | %d | `%s` (%d) | `%s` | %s | %s | %s |"
                .formatted(
                        code,
                        Exchange.status(code).code(),
                        RestResponse.status(code).code(),
                        grpc(code).getCode(),
                        code.number(),
                        RequestStatuses.code(code),
                        advice.meaning(),
                        mayHaveRun ? "maybe" : "no",
                        advice.action());
    }

    @Test
    void shouldListTheStatusesOfEachCode() throws Exception {
        List<String> rows = new ArrayList<>(List.of(
                "| code | v2 HTTP | TensorFlow REST | gRPC | v1 | means | has run | what to do |",
                "|---|---|---|---|---|---|---|---|"));
        Arrays.stream(ErrorCode.values()).map(ErrorReferenceIT::row).forEach(rows::add);

        ReferencePage.read("errors.md").withTable("Codes", rows).requireCommitted();
    }

    @ParameterizedTest
    @EnumSource(ErrorCode.class)
    void shouldHaveTheSameNumberOverGrpcAndInTheClient(ErrorCode code) {
        assertThat(grpc(code).getCode().value()).isEqualTo(code.number());
        assertThat(client(code).name()).isEqualTo(grpc(code).getCode().name());
    }
}
