// SPDX-License-Identifier: Apache-2.0
package gatun.console.history;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.console.history.VersionRates.VersionKey;
import gatun.runtime.ModelIdentifier;
import gatun.runtime.ModelStatistics;
import gatun.runtime.logging.AccessLog.RecordedLog.RequestWatch;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class SamplerTest {
    private static final long START_MILLIS = 1_700_000_000_000L;
    private static final long PLENTY = 24L << 20;

    private final CountedVersions counted = new CountedVersions();
    private long nowMillis = START_MILLIS;

    private final List<RequestWatch> watches = new ArrayList<>();

    private Sampler sampler(long historyBytes) {
        return new Sampler(counted::show, () -> nowMillis, watches::add, historyBytes);
    }

    private void second(Sampler sampler) {
        nowMillis += 1000;
        sampler.sample();
    }

    private static VersionRates rates(Sampler sampler, String model) {
        return Objects.requireNonNull(sampler.rates().get(new VersionKey(ModelIdentifier.of(model), "1")));
    }

    @Test
    void shouldTellRatesOfTheLastSecondAndQuantilesOfTheLastTen() {
        Sampler sampler = sampler(PLENTY);
        counted.answer("a", 0, 1);
        second(sampler);
        counted.answer("a", 99, 1_000_000);
        counted.answer("a", 1, 50_000_000);
        second(sampler);
        VersionRates busy = rates(sampler, "a");
        assertThat(busy.requestsPerSecond()).isEqualTo(100);
        assertThat(busy.inferencesPerSecond()).isEqualTo(400);
        assertThat(busy.p50Nanos().getAsLong()).isBetween(1_000_000L, 1_040_000L);
        assertThat(busy.p99Nanos().getAsLong()).isBetween(1_000_000L, 1_040_000L);
        assertThat(busy.meanBatch()).hasValue(4);
        for (int i = 0; i < 9; i++) {
            second(sampler);
        }
        assertThat(rates(sampler, "a").requestsPerSecond()).isZero();
        assertThat(rates(sampler, "a").p50Nanos()).isPresent();
        second(sampler);
        assertThat(rates(sampler, "a").p50Nanos()).isEmpty();
        assertThat(rates(sampler, "a").meanBatch()).isEmpty();
    }

    @Test
    void shouldTellHowManyInstancesRunNowOrRanInTheLastSecond() {
        Sampler sampler = sampler(PLENTY);
        counted.answer("a", 1, 1);
        second(sampler);
        assertThat(rates(sampler, "a").load().busyInstances()).isZero();
        counted.answer("a", 10, 50_000_000);
        counted.computeNanos = 500_000_000;
        second(sampler);
        assertThat(rates(sampler, "a").load().busyInstances()).isEqualTo(0.5);
        counted.occupancy = new ModelStatistics.Occupancy(0, 2);
        second(sampler);
        assertThat(rates(sampler, "a").load().busyInstances()).isEqualTo(2);
        counted.occupancy = ModelStatistics.Occupancy.NONE;
        counted.answer("a", 10, 250_000_000);
        counted.computeNanos += 2_500_000_000L;
        second(sampler);
        assertThat(rates(sampler, "a").load().busyInstances())
                .as("no more than there are")
                .isEqualTo(2);
        counted.answer("a", 2, 5_000_000_000L);
        counted.computeNanos += 10_000_000_000L;
        second(sampler);
        assertThat(rates(sampler, "a").load().busyInstances())
                .as("by runs that took longer than the second")
                .isZero();
        History history = sampler.history("a", "1", 4).orElseThrow();
        assertThat(history.value(Series.BUSY_INSTANCES, 0)).isEqualTo(0.5f);
        assertThat(history.value(Series.BUSY_INSTANCES, 1)).isEqualTo(2);
    }

    @Test
    void shouldKeepAnHourSecondBySecond() {
        Sampler sampler = sampler(PLENTY);
        counted.answer("a", 0, 1);
        for (int i = 0; i < 4000; i++) {
            counted.answer("a", i % 2 == 0 ? 3 : 0, 2_000_000);
            second(sampler);
        }
        History hour = sampler.history("a", "1", 3600).orElseThrow();
        assertThat(hour.points()).isEqualTo(3600);
        assertThat(hour.endMillis()).isEqualTo(nowMillis);
        assertThat(hour.value(Series.REQUESTS_PER_SECOND, 3599)).isZero();
        assertThat(hour.value(Series.REQUESTS_PER_SECOND, 3598)).isEqualTo(3);
        assertThat(hour.value(Series.REQUESTS_PER_SECOND, 0)).isEqualTo(3);
        assertThat(hour.value(Series.P50_NANOS, 0)).isBetween(2_000_000f, 2_070_000f);
        assertThat(hour.value(Series.P50_NANOS, 1)).isNaN();
        assertThat(hour.value(Series.INSTANCES, 0)).isEqualTo(2);
        assertThat(hour.rate("http", 0)).isEqualTo(3);
        assertThat(sampler.minuteCount()).isLessThanOrEqualTo(61);
    }

    @Test
    void shouldTellNothingOfSecondsBeforeAVersionWasThereAndZeroOfThoseInWhichItWasIdle() {
        Sampler sampler = sampler(PLENTY);
        second(sampler);
        counted.answer("a", 0, 1);
        second(sampler);
        second(sampler);
        History history = sampler.history("a", "1", 4).orElseThrow();
        assertThat(history.value(Series.REQUESTS_PER_SECOND, 1)).isNaN();
        assertThat(history.value(Series.REQUESTS_PER_SECOND, 2)).isZero();
        assertThat(history.value(Series.REQUESTS_PER_SECOND, 3)).isZero();
    }

    @Test
    void shouldReadTheCountersOfThoseVersionsOnlyThatDidSomething() {
        Sampler sampler = sampler(PLENTY);
        for (int i = 0; i < 200; i++) {
            counted.answer("m" + i, 0, 1);
        }
        second(sampler);
        counted.answer("m7", 1, 1000);
        second(sampler);
        second(sampler);
        assertThat(counted.counted).isEqualTo(1);
        assertThat(counted.measured).isEqualTo(1);
    }

    @Test
    void shouldForgetTheOldestMinutesOfAllWhenManyVersionsAreBusy() {
        Sampler sampler = sampler(20L * HistoryBudget.MINUTE_BYTES);
        for (int i = 0; i < 300; i++) {
            for (int model = 0; model < 10; model++) {
                counted.answer("m" + model, 1, 1000);
            }
            second(sampler);
        }
        assertThat(sampler.minuteCount()).isBetween(10, 20);
        History history = sampler.history("m3", "1", 3600).orElseThrow();
        assertThat(history.value(Series.REQUESTS_PER_SECOND, 3599)).isEqualTo(1);
        assertThat(history.value(Series.REQUESTS_PER_SECOND, 3400)).isNaN();
    }

    @Test
    void shouldStayBoundedWhileTenThousandVersionsComeAndGo() {
        Sampler sampler = sampler(PLENTY);
        for (int i = 0; i < 10_000; i++) {
            counted.versions.clear();
            counted.answer("m" + i, 1, 1000);
            second(sampler);
        }
        assertThat(sampler.versionCount()).isLessThanOrEqualTo(Sampler.MOST_GONE + 1);
        assertThat(sampler.minuteCount()).isLessThanOrEqualTo(Sampler.MOST_GONE + 1);
        assertThat(sampler.history("m9998", "1", 60)).isPresent();
        assertThat(sampler.history("m1", "1", 60)).isEmpty();
        assertThat(sampler.slowest("m1", "1")).isEmpty();
    }

    @Test
    void shouldWatchRequestsOnceSomebodyLooks() {
        Sampler sampler = sampler(PLENTY);
        counted.answer("m", 1, 1000);
        second(sampler);
        assertThat(watches).isEmpty();
        sampler.watchRequests();
        sampler.watchRequests();
        assertThat(watches).hasSize(1);
    }

    @Test
    void shouldMeasureSoManyVersionsAndTellTheRatesOfAll() {
        Sampler sampler = sampler(PLENTY);
        for (int i = 0; i < Sampler.MOST_MEASURED + 10; i++) {
            counted.answer("m" + i, 0, 1);
        }
        second(sampler);
        for (int i = 0; i < Sampler.MOST_MEASURED + 10; i++) {
            counted.answer("m" + i, 1, 1000);
        }
        second(sampler);
        assertThat(sampler.rates().values()).allMatch(rates -> rates.requestsPerSecond() == 1);
        assertThat(sampler.rates().values().stream()
                        .filter(rates -> rates.p50Nanos().isPresent()))
                .hasSize(Sampler.MOST_MEASURED);
    }

    @Test
    void shouldCountAnewWhenAVersionWasLoadedAnew() {
        Sampler sampler = sampler(PLENTY);
        counted.answer("a", 10, 1000);
        second(sampler);
        counted.versions.clear();
        counted.answer("a", 4, 1000);
        second(sampler);
        assertThat(rates(sampler, "a").requestsPerSecond()).isEqualTo(4);
        assertThat(rates(sampler, "a").p50Nanos()).isPresent();
    }

    @Test
    void shouldTellOfAllRequestsToAVersionThatWasLoadedAnewAndHasAnsweredMoreThanBefore() {
        Sampler sampler = sampler(PLENTY);
        counted.answer("a", 10, 1000);
        second(sampler);
        counted.versions.clear();
        counted.answer("a", 25, 1000);
        second(sampler);
        assertThat(rates(sampler, "a").requestsPerSecond()).isEqualTo(25);
        assertThat(sampler.versionCount()).isEqualTo(1);
        second(sampler);
        assertThat(rates(sampler, "a").requestsPerSecond()).isZero();
        assertThat(rates(sampler, "a").meanBatch()).hasValue(4);
    }

    @Test
    void shouldGoOnWithTheHistoryOfAVersionThatComesBack() {
        Sampler sampler = sampler(PLENTY);
        counted.answer("a", 10, 1000);
        second(sampler);
        counted.versions.clear();
        second(sampler);
        assertThat(sampler.rates()).isEmpty();
        counted.answer("a", 3, 1000);
        second(sampler);
        assertThat(rates(sampler, "a").requestsPerSecond()).isEqualTo(3);
        History history = sampler.history("a", "1", 3).orElseThrow();
        assertThat(history.value(Series.REQUESTS_PER_SECOND, 0)).isEqualTo(10);
        assertThat(history.value(Series.REQUESTS_PER_SECOND, 1)).isZero();
        assertThat(history.value(Series.REQUESTS_PER_SECOND, 2)).isEqualTo(3);
    }

    @Test
    void shouldGoOnWhenTheClockIsSetBack() {
        Sampler sampler = sampler(PLENTY);
        counted.answer("a", 1, 1000);
        second(sampler);
        nowMillis -= 3_600_000;
        counted.answer("a", 1, 1000);
        second(sampler);
        counted.answer("a", 1, 1000);
        second(sampler);
        assertThat(rates(sampler, "a").requestsPerSecond()).isEqualTo(1);
        assertThat(sampler.history("a", "1", 3).orElseThrow().value(Series.REQUESTS_PER_SECOND, 2))
                .isEqualTo(1);
    }
}
