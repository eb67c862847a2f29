// SPDX-License-Identifier: Apache-2.0
package gatun.it.python;

import static gatun.it.python.PythonModels.input;
import static gatun.it.python.PythonModels.output;
import static gatun.testing.TraceCollector.traceId;
import static gatun.testing.TraceCollector.within;
import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerProcess;
import gatun.testing.TraceCollector;
import io.opentelemetry.proto.trace.v1.Span;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.HexFormat;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Traces of Python models: the span that a model may continue, and those of the models that it asks. */
@Timeout(120)
class PythonTracesIT {
    @TempDir
    private Path folder;

    @BeforeEach
    void write() {
        PythonModels models = new PythonModels(folder);
        models.write("answers", input("X", "INT32", "1") + output("Y", "INT32", "1"), """
                import triton_python_backend_utils as pb_utils

                class TritonPythonModel:
                    def execute(self, requests):
                        return [pb_utils.InferenceResponse([pb_utils.Tensor("Y", r.inputs()[0].as_numpy())])
                                for r in requests]
                """);
        models.write("asks", input("X", "INT32", "1") + output("CONTEXT", "STRING", "1"), """
                import numpy as np
                import triton_python_backend_utils as pb_utils

                class TritonPythonModel:
                    def execute(self, requests):
                        responses = []
                        for request in requests:
                            answer = pb_utils.InferenceRequest(
                                model_name="answers", requested_output_names=["Y"], inputs=request.inputs(),
                                trace=request.trace()).exec()
                            assert not answer.has_error()
                            context = str(request.trace().get_context())
                            responses.append(pb_utils.InferenceResponse(
                                [pb_utils.Tensor("CONTEXT", np.array([context], np.object_))]))
                        return responses
                """);
    }

    private static String ask(ServerProcess server) {
        try (HttpApi http = new HttpApi(server)) {
            HttpResponse<String> response = http.post(
                    "/v2/models/asks/infer",
                    "{\"inputs\":[{\"name\":\"X\",\"datatype\":\"INT32\",\"shape\":[1],\"data\":[5]}]}");
            assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
            return response.body();
        }
    }

    @Test
    void shouldHangTheSpansOfAModelThatIsAskedUnderThoseOfTheModelThatAsks() throws Exception {
        try (TraceCollector collector = TraceCollector.answering(200)) {
            String answer;
            try (ServerProcess server = ServerProcess.launch(
                    folder,
                    PythonModels.executable(),
                    "--trace-config=level=TIMESTAMPS",
                    "--trace-config=rate=1",
                    "--trace-config=mode=opentelemetry",
                    "--trace-config=opentelemetry,url=" + collector.url())) {
                answer = ask(server);
            }
            Span asks = collector.span("asks");
            Span answers = collector.span("answers");
            assertThat(within(asks, collector.span("InferRequest"))).isTrue();
            assertThat(within(answers, asks)).isTrue();
            assertThat(collector.spans("compute")).hasSize(2);
            Span run = collector.spans("compute").stream()
                    .filter(span -> within(span, asks))
                    .findFirst()
                    .orElseThrow();
            assertThat(collector.spans("compute")).anyMatch(span -> within(span, answers));
            assertThat(answer)
                    .contains("{\\\"traceparent\\\":\\\"00-" + traceId(run) + "-"
                            + HexFormat.of().formatHex(run.getSpanId().toByteArray()) + "-01\\\"}");
        }
    }

    @Test
    void shouldGiveAModelNoSpanWhereThereIsNone() throws Exception {
        try (ServerProcess server = ServerProcess.launch(folder, PythonModels.executable())) {
            assertThat(ask(server)).contains("\"data\":[\"None\"]");
        }
    }
}
