// SPDX-License-Identifier: Apache-2.0
package gatun.bench.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.bench.data.DataPlan;
import gatun.bench.data.DataSet;
import gatun.bench.data.GeneratedTensors;
import gatun.bench.data.InputShapes;
import gatun.bench.data.ModelDescription;
import gatun.client.InferRequest;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class SentRequestsTest {
    private static final ModelDescription MODEL = new ModelDescription(
            "m", List.of(new TensorSpec("IN", Datatype.INT32, Shape.of(1))), List.of(), false, false, List.of());

    @Test
    void shouldPutARequestTogetherOnceAndNotAsPartOfASequence() {
        try (DataSet data = data(1)) {
            RequestPlan plan = RequestPlan.of(MODEL, "2", data, false);
            StepCursor cursor = plan.cursor(0);
            SentRequests requests = new SentRequests(plan);
            InferRequest first = requests.prepare(cursor.next(), cursor);
            InferRequest second = requests.prepare(cursor.next(), cursor);
            assertThat(first).isSameAs(second);
            assertThat(first.isOfSequence()).isFalse();
            assertThat(first.parameters()).isEmpty();
            assertThat(first.version()).isEqualTo("2");
            // Also of a worker that comes when others have sent already.
            SentRequests others = new SentRequests(plan);
            assertThat(others.prepare(cursor.next(), cursor).isOfSequence()).isFalse();
        }
    }

    @Test
    void shouldMarkTheBeginningAndTheEndOfSequences() {
        try (DataSet data = data(2)) {
            RequestPlan plan = RequestPlan.of(MODEL, "", data, true);
            StepCursor cursor = plan.cursor(0);
            SentRequests requests = new SentRequests(plan);
            InferRequest first = requests.prepare(cursor.next(), cursor);
            cursor.answered();
            InferRequest second = requests.prepare(cursor.next(), cursor);
            assertThat(first.parameters()).containsEntry("sequence_start", true).containsEntry("sequence_end", false);
            assertThat(second.parameters())
                    .containsEntry("sequence_start", false)
                    .containsEntry("sequence_end", true)
                    .containsEntry("sequence_id", first.parameters().get("sequence_id"));
        }
    }

    private static DataSet data(int sequenceLength) {
        return new DataPlan(
                        new InputShapes(Map.of(), 1),
                        new GeneratedTensors(true, Optional.empty(), 1, 1),
                        Optional.empty(),
                        Optional.empty(),
                        0,
                        sequenceLength)
                .open(MODEL);
    }
}
