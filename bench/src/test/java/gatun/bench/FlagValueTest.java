// SPDX-License-Identifier: Apache-2.0
package gatun.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.bench.load.Distribution;
import gatun.memory.tensor.Shape;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FlagValueTest {
    @Test
    void shouldReadTimesWithTheirUnits() {
        FlagValue.Time time = new FlagValue.Time();
        assertThat(time.convert("5s")).isEqualTo(Duration.ofSeconds(5));
        assertThat(time.convert("1.5s")).isEqualTo(Duration.ofMillis(1500));
        assertThat(time.convert("250us")).isEqualTo(Duration.ofNanos(250_000));
        assertThat(time.convert("500")).isEqualTo(Duration.ofMillis(500));
        assertThat(time.convert("2m")).isEqualTo(Duration.ofMinutes(2));
        assertThatThrownBy(() -> time.convert("5 hours")).hasMessageContaining("'5 hours' is not a time, such as 5s");
        assertThatThrownBy(() -> time.convert("99999999s")).hasMessageContaining("at most a day");
    }

    @Test
    void shouldReadListsAndRanges() {
        assertThat(new FlagValue.Concurrencies().convert("1,2,4")).containsExactly(1, 2, 4);
        assertThat(new FlagValue.Concurrencies().convert("1:16:5")).containsExactly(1, 6, 11, 16);
        assertThat(new FlagValue.Concurrencies().convert("2:4")).containsExactly(2, 3, 4);
        assertThat(new FlagValue.Rates().convert("0.1:0.5:0.1")).hasSize(5);
        assertThat(new FlagValue.Rates().convert("250.5")).containsExactly(250.5);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0", "-1", "1.5", "a", "4:1", "1:4:0", "1:2:3:4", "1:100000000:1", "NaN", "1,,2"})
    void shouldRefuseOtherConcurrencies(String value) {
        assertThatThrownBy(() -> new FlagValue.Concurrencies().convert(value))
                .hasMessageContaining("'" + value + "' is not a list of whole numbers");
    }

    @Test
    void shouldReadPercentages() {
        assertThat(new FlagValue.Percent().convert("10%")).isEqualTo(0.1);
        assertThat(new FlagValue.Percent().convert("5")).isEqualTo(0.05);
        assertThat(new FlagValue.Percentile().convert("99.9")).isEqualTo(99.9);
        assertThat(new FlagValue.Percentile().convert("p95")).isEqualTo(95);
        assertThatThrownBy(() -> new FlagValue.Percentile().convert("100")).hasMessageContaining("below 100");
    }

    @Test
    void shouldReadShapes() {
        assertThat(new FlagValue.NamedShape().convert("image:1,3,224"))
                .isEqualTo(Map.entry("image", Shape.of(1, 3, 224)));
        assertThat(new FlagValue.NamedShape().convert("a:b:2")).isEqualTo(Map.entry("a:b", Shape.of(2)));
        assertThatThrownBy(() -> new FlagValue.NamedShape().convert("image")).hasMessageContaining("NAME:DIM,DIM...");
        assertThatThrownBy(() -> new FlagValue.NamedShape().convert("image:-1"))
                .hasMessageContaining("NAME:DIM,DIM...");
    }

    @Test
    void shouldReadNamesInAnyCase() {
        assertThat(new FlagValue.ProtocolName().convert("tensorflow")).isEqualTo(TargetFlags.Protocol.TENSORFLOW);
        assertThat(new FlagValue.DistributionName().convert("Constant")).isEqualTo(Distribution.CONSTANT);
        assertThatThrownBy(() -> new FlagValue.CompressionName().convert("zip"))
                .hasMessage("'zip' is not a compression: none or gzip or deflate");
    }

    @Test
    void shouldReadHeaders() {
        assertThat(new FlagValue.Header().convert("x-tenant: blue:2")).isEqualTo(Map.entry("x-tenant", "blue:2"));
        assertThatThrownBy(() -> new FlagValue.Header().convert("x-tenant")).hasMessageContaining("is not a header");
    }
}
