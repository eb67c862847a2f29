// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class SessionThreadsTest {
    private static final String SPINNING = "session.intra_op.allow_spinning";
    private static final String SPIN_DURATION = "session.intra_op.spin_duration_us";

    @Test
    void shouldSpinForAMomentWhereThereIsAPool() {
        assertThat(SessionThreads.of(2, "1.29.0").entries()).isEqualTo(Map.of(SPINNING, "1", SPIN_DURATION, "50"));
        assertThat(SessionThreads.of(1, "1.29.0").entries()).isEqualTo(Map.of(SPINNING, "0"));
    }

    @Test
    void shouldNotSpinWithLibrariesThatKnowNoEndOfIt() {
        assertThat(SessionThreads.of(8, "1.25.3").entries()).isEqualTo(Map.of(SPINNING, "0"));
        assertThat(SessionThreads.of(8, "unknown").entries()).isEqualTo(Map.of(SPINNING, "0"));
        assertThat(SessionThreads.of(8, "2.0.0").entries()).containsEntry(SPINNING, "1");
    }

    @Test
    void shouldLeaveWhatTheModelSays() {
        Map<String, String> spinning = new TreeMap<>(Map.of(SPINNING, "1"));
        SessionThreads.of(2, "1.29.0").addTo(spinning);
        assertThat(spinning).isEqualTo(Map.of(SPINNING, "1"));

        Map<String, String> longer = new TreeMap<>(Map.of(SPIN_DURATION, "2000"));
        SessionThreads.of(2, "1.29.0").addTo(longer);
        assertThat(longer).isEqualTo(Map.of(SPINNING, "1", SPIN_DURATION, "2000"));
    }
}
