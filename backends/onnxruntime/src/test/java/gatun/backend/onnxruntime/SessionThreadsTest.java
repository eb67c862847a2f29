package gatun.backend.onnxruntime;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class SessionThreadsTest {
    private static final String SPINNING = "session.intra_op.allow_spinning";
    private static final String SPIN_DURATION = "session.intra_op.spin_duration_us";

    private static SessionThreads choose(int cores, int instances) {
        return SessionThreads.choose(Optional.empty(), cores, instances, "1.29.0");
    }

    @Test
    void shouldShareTheCoresOutAmongInstances() {
        assertThat(choose(8, 1).count()).isEqualTo(8);
        assertThat(choose(8, 3).count()).isEqualTo(2);
        assertThat(choose(2, 5).count()).isEqualTo(1);
        assertThat(choose(2, 0).count()).isEqualTo(2);
    }

    @Test
    void shouldTakeTheCountThatTheModelAsksFor() {
        assertThat(SessionThreads.choose(Optional.of(3), 8, 2, "1.29.0").count())
                .isEqualTo(3);
    }

    @Test
    void shouldSpinForAMomentWhereThereIsAPool() {
        assertThat(choose(2, 1).entries()).isEqualTo(Map.of(SPINNING, "1", SPIN_DURATION, "50"));
        assertThat(choose(2, 2).entries()).isEqualTo(Map.of(SPINNING, "0"));
    }

    @Test
    void shouldNotSpinWithLibrariesThatKnowNoEndOfIt() {
        assertThat(SessionThreads.choose(Optional.empty(), 8, 1, "1.25.3").entries())
                .isEqualTo(Map.of(SPINNING, "0"));
        assertThat(SessionThreads.choose(Optional.empty(), 8, 1, "unknown").entries())
                .isEqualTo(Map.of(SPINNING, "0"));
        assertThat(SessionThreads.choose(Optional.empty(), 8, 1, "2.0.0").entries())
                .containsEntry(SPINNING, "1");
    }

    @Test
    void shouldLeaveWhatTheModelSays() {
        Map<String, String> spinning = new TreeMap<>(Map.of(SPINNING, "1"));
        choose(2, 1).addTo(spinning);
        assertThat(spinning).isEqualTo(Map.of(SPINNING, "1"));

        Map<String, String> longer = new TreeMap<>(Map.of(SPIN_DURATION, "2000"));
        choose(2, 1).addTo(longer);
        assertThat(longer).isEqualTo(Map.of(SPINNING, "1", SPIN_DURATION, "2000"));
    }
}
