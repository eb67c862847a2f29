// SPDX-License-Identifier: Apache-2.0
package gatun.server.top;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What the screen shows of what a server told. */
class TopStateTest {
    private static final Sample.Key FIRST = new Sample.Key("first", "1");
    private static final Sample.Key SECOND = new Sample.Key("second", "1");

    private final TopState state = new TopState("http://localhost:8000");

    @Test
    void shouldShowRatesAndMeansOfTheIntervalOnly() {
        state.tell(sample(0, counts(100, 1_000_000_000)));
        state.tell(sample(2, counts(120, 1_040_000_000)));
        // 20 requests in 2 s, of 2 ms each
        assertThat(line("first")).contains(" ready ", "10.0", "2.0 ms", "4.0");
        assertThat(line("second")).containsPattern("second +1 +unavailable +0 +- ");
    }

    @Test
    void shouldCountFromNothingWhereAModelWasLoadedAgain() {
        state.tell(sample(0, counts(100, 1_000_000_000)));
        state.tell(sample(1, counts(5, 5_000_000)));
        assertThat(line("first")).contains("5.0", "1.0 ms");
    }

    @Test
    void shouldSelectSortAndShowOneModelsStages() {
        state.tell(sample(0, counts(0, 0)));
        assertThat(marked()).startsWith("first");
        state.move(1);
        assertThat(marked()).startsWith("second");
        state.move(1);
        assertThat(marked()).startsWith("second");
        assertThat(text()).contains("no such file");
        state.sortByNext();
        assertThat(marked()).startsWith("second");
        assertThat(text()).contains("sort: requests");
        state.toggleDetails();
        assertThat(text()).contains("model     second", "compute infer", "reason    no such file");
    }

    @Test
    void shouldSayThatTheServerIsAway() {
        assertThat(text()).contains("asking");
        state.miss("13:04:05", "Connection\u001b[2J refused");
        assertThat(text()).contains("not reachable since 13:04:05: Connection?[2J refused");
        state.tell(sample(0, counts(0, 0)));
        assertThat(text()).doesNotContain("not reachable");
        state.miss("13:04:06", "gone");
        assertThat(text()).contains("not reachable since 13:04:06: gone", "first"); // and what was known last
    }

    @Test
    void shouldFitAnyTerminal() {
        state.tell(sample(0, counts(0, 0)));
        state.move(1);
        for (int height = 0; height < 30; height++) {
            for (int width : List.of(0, 1, 10, 79, 80, 300)) {
                TopState.Screen screen = state.screen(width, height);
                assertThat(screen.lines()).hasSizeLessThanOrEqualTo(height).allMatch(line -> line.length() <= width);
                assertThat(screen.marked()).isLessThan(Math.max(1, height));
            }
        }
        assertThat(state.screen(80, 5).lines()).anyMatch(line -> line.startsWith("second")); // scrolled to
    }

    private String line(String model) {
        return state.screen(140, 24).lines().stream()
                .filter(line -> line.startsWith(model))
                .findFirst()
                .orElseThrow();
    }

    private String marked() {
        TopState.Screen screen = state.screen(140, 24);
        return screen.lines().get(screen.marked());
    }

    private String text() {
        return String.join("\n", state.screen(140, 24).lines());
    }

    private static ModelCounts counts(long requests, long nanos) {
        return new ModelCounts(requests, nanos, 0, nanos / 4, 0, nanos / 2, 0, 4 * requests, requests);
    }

    private static Sample sample(long second, ModelCounts first) {
        return new Sample(
                TimeUnit.SECONDS.toNanos(second),
                List.of(new Sample.Model(FIRST, "ready", ""), new Sample.Model(SECOND, "unavailable", "no such file")),
                Map.of(FIRST, first),
                ServerMetrics.NONE,
                0);
    }
}
