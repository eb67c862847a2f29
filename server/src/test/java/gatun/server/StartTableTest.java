// SPDX-License-Identifier: Apache-2.0
package gatun.server;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.runtime.ModelStatus;
import gatun.runtime.ModelStatus.ModelState;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class StartTableTest {
    private static final List<ModelStatus> MODELS = List.of(
            new ModelStatus("digits", "1", "onnxruntime", ModelState.READY, "", Duration.ofMillis(84)),
            new ModelStatus("large", "12", "onnxruntime", ModelState.READY, "", Duration.ofMillis(12_340)),
            new ModelStatus("broken", "", "", ModelState.UNAVAILABLE, "no version\nsecond line", Duration.ZERO));

    @Test
    void shouldLineUpWhatWasLoadedAndSayWhyNot() {
        assertThat(StartTable.ascii().render(MODELS)).isEqualTo("""
                        +--------+---------+-------------+-------------+-----------+
                        | Model  | Version | Engine      | State       | Load time |
                        +--------+---------+-------------+-------------+-----------+
                        | digits | 1       | onnxruntime | ready       |     84 ms |
                        | large  | 12      | onnxruntime | ready       |    12.3 s |
                        | broken | -       | -           | unavailable |         - |
                        +--------+---------+-------------+-------------+-----------+
                        broken: no version
                            second line
                        """);
    }

    @Test
    void shouldDrawBoxesOnATerminal() {
        assertThat(StartTable.boxed().render(MODELS.subList(0, 1))).isEqualTo("""
                        ┌────────┬─────────┬─────────────┬───────┬───────────┐
                        │ Model  │ Version │ Engine      │ State │ Load time │
                        ├────────┼─────────┼─────────────┼───────┼───────────┤
                        │ digits │ 1       │ onnxruntime │ ready │     84 ms │
                        └────────┴─────────┴─────────────┴───────┴───────────┘
                        """);
    }
}
