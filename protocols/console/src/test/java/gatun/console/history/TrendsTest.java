// SPDX-License-Identifier: Apache-2.0
package gatun.console.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import gatun.console.history.Trends.VersionTrend;
import gatun.runtime.ModelStatistics;
import org.junit.jupiter.api.Test;

class TrendsTest {
    /** The beginning of a minute. */
    private static final long START_MILLIS = 1_700_000_040_000L;

    private static final int LAST_OF_SERVER = TimeRange.SERVER_POINTS - 1;
    private static final int LAST_OF_VERSION = TimeRange.VERSION_POINTS - 1;

    private final CountedVersions counted = new CountedVersions();
    private long nowMillis = START_MILLIS - 1000;
    private final Sampler sampler = new Sampler(counted::show, () -> nowMillis, watch -> {}, 24L << 20);

    private void second() {
        nowMillis += 1000;
        sampler.sample();
    }

    @Test
    void shouldSumUpAllVersionsSecondBySecond() {
        counted.answer("a", 0, 1);
        counted.answer("b", 0, 1);
        second();
        counted.answer("a", 90, 1_000_000);
        counted.answer("b", 10, 60_000_000);
        counted.occupancy = new ModelStatistics.Occupancy(0, 1);
        second();
        History server = sampler.trends(TimeRange.FIVE_MINUTES).server();
        assertThat(server.points()).isEqualTo(300);
        assertThat(server.endMillis()).isEqualTo(nowMillis);
        assertThat(server.value(Series.REQUESTS_PER_SECOND, LAST_OF_SERVER)).isEqualTo(100);
        assertThat(server.value(Series.BUSY_INSTANCES, LAST_OF_SERVER)).isEqualTo(2);
        // Of all requests, not of the versions' quantiles.
        assertThat(server.value(Series.P50_NANOS, LAST_OF_SERVER)).isBetween(1e6f, 1.04e6f);
        assertThat(server.value(Series.P99_NANOS, LAST_OF_SERVER)).isBetween(60e6f, 62e6f);
        assertThat(server.value(Series.REQUESTS_PER_SECOND, LAST_OF_SERVER - 1)).isZero();
        assertThat(server.value(Series.P50_NANOS, LAST_OF_SERVER - 1)).isNaN();
        assertThat(server.value(Series.REQUESTS_PER_SECOND, LAST_OF_SERVER - 2))
                .as("before the server looked")
                .isNaN();
    }

    @Test
    void shouldHaveAsManyPointsOfAnHourAsOfFiveMinutesAndExactQuantilesOfEach() {
        counted.answer("a", 0, 1);
        for (int i = 0; i < 3600; i++) {
            // Of each step of twelve seconds: eleven with one fast request, one with thirty slow ones.
            boolean isSlow = i % 12 == 11;
            counted.answer("a", isSlow ? 30 : 1, isSlow ? 80_000_000 : 1_000_000);
            second();
        }
        for (TimeRange range : TimeRange.values()) {
            assertThat(sampler.trends(range).server().points()).isEqualTo(300);
        }
        History hour = sampler.trends(TimeRange.HOUR).server();
        for (int i = 0; i < hour.points(); i++) {
            assertThat(hour.value(Series.REQUESTS_PER_SECOND, i)).isEqualTo(41f / 12, within(0.001f));
            assertThat(hour.value(Series.P50_NANOS, i)).isBetween(80e6f, 83e6f);
        }
        History five = sampler.trends(TimeRange.FIVE_MINUTES).server();
        assertThat(five.value(Series.P50_NANOS, LAST_OF_SERVER - 1)).isBetween(1e6f, 1.04e6f);
    }

    @Test
    void shouldShowAStepThatGoesOnByItsSecondsSoFar() {
        counted.answer("a", 0, 1);
        for (int i = 0; i < 16; i++) {
            counted.answer("a", 5, 1000);
            second();
        }
        History hour = sampler.trends(TimeRange.HOUR).server();
        assertThat(hour.value(Series.REQUESTS_PER_SECOND, LAST_OF_SERVER)).isEqualTo(5);
        assertThat(hour.value(Series.REQUESTS_PER_SECOND, LAST_OF_SERVER - 1)).isEqualTo(5);
        VersionTrend version = sampler.trends(TimeRange.FIVE_MINUTES).versions().getFirst();
        assertThat(version.history().value(Series.REQUESTS_PER_SECOND, LAST_OF_VERSION))
                .isEqualTo(5);
    }

    @Test
    void shouldForgetWhatIsLongerAgo() {
        counted.answer("a", 0, 1);
        second();
        counted.answer("a", 7, 1000);
        second();
        for (int i = 0; i < 298; i++) {
            second();
        }
        assertThat(sampler.trends(TimeRange.FIVE_MINUTES).server().value(Series.REQUESTS_PER_SECOND, 1))
                .isEqualTo(7);
        for (int i = 0; i < 2; i++) {
            second();
        }
        History five = sampler.trends(TimeRange.FIVE_MINUTES).server();
        for (int i = 0; i < five.points(); i++) {
            assertThat(five.value(Series.REQUESTS_PER_SECOND, i)).isZero();
        }
    }

    @Test
    void shouldTellOfTheBusiestVersionsOnlyHoweverManyThereAre() {
        for (int i = 0; i < 1000; i++) {
            counted.answer("m" + i, 0, 1);
        }
        second();
        for (int i = 0; i < 1000; i++) {
            counted.answer("m" + i, i, 1000);
        }
        second();
        Trends trends = sampler.trends(TimeRange.HOUR);
        assertThat(trends.versions()).hasSize(Trends.MOST_VERSIONS);
        assertThat(trends.versions().getFirst().model()).isEqualTo("m999");
        assertThat(trends.versions().getLast().model()).isEqualTo("m" + (1000 - Trends.MOST_VERSIONS));
        assertThat(trends.versions()).allMatch(version -> version.history().points() == 60);
    }

    @Test
    void shouldTellAVersionsHighestTailAndItsMedianByTheWeightOfRequests() {
        counted.answer("a", 0, 1);
        second();
        counted.answer("a", 30, 2_000_000);
        second();
        counted.answer("a", 10, 6_000_000);
        second();
        for (int i = 0; i < 2; i++) {
            second();
        }
        Trends trends = sampler.trends(TimeRange.FIVE_MINUTES);
        History version = trends.versions().getFirst().history();
        assertThat(version.value(Series.REQUESTS_PER_SECOND, LAST_OF_VERSION)).isEqualTo(8);
        assertThat(version.value(Series.P50_NANOS, LAST_OF_VERSION)).isBetween(3e6f, 3.1e6f);
        assertThat(version.value(Series.P99_NANOS, LAST_OF_VERSION)).isBetween(6e6f, 6.2e6f);
        assertThat(version.value(Series.REQUESTS_PER_SECOND, LAST_OF_VERSION - 1))
                .isNaN();
    }

    @Test
    void shouldNotTellOfVersionsThatDidNothingInTheRangeOrAreGone() {
        counted.answer("idle", 0, 1);
        counted.answer("gone", 0, 1);
        second();
        counted.answer("gone", 5, 1000);
        second();
        assertThat(sampler.trends(TimeRange.HOUR).versions()).hasSize(1);
        counted.versions.remove("gone");
        second();
        assertThat(sampler.trends(TimeRange.HOUR).versions()).isEmpty();
    }
}
