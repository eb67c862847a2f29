// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.runtime.tracing.TraceSettings;
import gatun.runtime.tracing.TraceSettings.TraceLevel;
import gatun.runtime.tracing.Tracing;
import gatun.server.opentelemetry.CollectorSettings;
import gatun.server.settings.TracingSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine.TypeConversionException;

class TraceOptionTest {
    private static TracingSettings settings(String... texts) {
        return TraceOption.apply(
                Stream.of(texts).map(new TraceOption.Reader()::convert).toList());
    }

    @Test
    void shouldChangeWhatIsNamedAndNothingElse() {
        assertThat(settings()).isEqualTo(TracingSettings.OFF);
        TracingSettings all = settings(
                "level=TIMESTAMPS",
                "level=TENSORS",
                "rate=5",
                "count=-1",
                "mode=triton",
                "triton,file=/tmp/t",
                "triton,log-frequency=7");
        assertThat(all.settings())
                .isEqualTo(new TraceSettings(Set.of(TraceLevel.TIMESTAMPS, TraceLevel.TENSORS), 5, -1, 7));
        assertThat(all.file()).hasValue(Path.of("/tmp/t"));
        assertThat(settings("level=TIMESTAMPS", "level=OFF").settings().levels())
                .isEmpty();
    }

    @Test
    void shouldReadWhoTakesTraces() {
        TracingSettings all = settings(
                "opentelemetry,url=collector:4318/v1/traces",
                "mode=opentelemetry",
                "opentelemetry,resource=service.name=a=b",
                "opentelemetry,resource=service.version=",
                "opentelemetry,bsp_max_queue_size=100",
                "opentelemetry,bsp_schedule_delay=20",
                "opentelemetry,bsp_max_export_batch_size=7");

        assertThat(all.openTelemetry()).isTrue();
        assertThat(all.collector())
                .isEqualTo(new CollectorSettings(
                        "collector:4318/v1/traces",
                        Map.of("service.name", "a=b", "service.version", ""),
                        100,
                        Duration.ofMillis(20),
                        7));
        assertThat(settings("mode=opentelemetry", "mode=triton").openTelemetry())
                .isFalse();
    }

    @Test
    void shouldTakeNoDelayForSendingAtOnce() {
        assertThat(settings("opentelemetry,bsp_schedule_delay=0").collector().scheduleDelay())
                .isZero();
    }

    @Test
    void shouldSendFewerSpansAtATimeWhereFewerMayWait() {
        try (Tracing tracing = settings("mode=opentelemetry", "opentelemetry,bsp_max_queue_size=1")
                .open()) {
            assertThat(tracing.settings(""))
                    .containsEntry("bsp_max_queue_size", List.of("1"))
                    .containsEntry("bsp_max_export_batch_size", List.of("1"));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "url=ftp://c, is not the URL of a collector",
        "url=, is not the URL of a collector",
        "url=http://a b, is not the URL of a collector",
        "url=//a?://b, is not the URL of a collector",
        "resource=a, does not say what traces tell of this server",
        "resource==b, does not say what traces tell of this server",
        "bsp_max_queue_size=0, a number of spans from 1",
        "bsp_schedule_delay=x, a number of milliseconds from 0 up",
        "bsp_schedule_delay=-1, a number of milliseconds from 0 up",
        "bsp_max_export_batch_size=-1, a number of spans from 1",
        "header=x, is not a setting of OpenTelemetry",
    })
    void shouldRefuseAMalformedSettingOfOpenTelemetry(String setting, String text) {
        assertThatThrownBy(() -> settings("opentelemetry," + setting))
                .isInstanceOf(TypeConversionException.class)
                .hasMessageContaining(text);
    }

    @Test
    void shouldRefuseWhatMeansNothing() {
        assertThatThrownBy(() -> settings("speed=5"))
                .isInstanceOf(TypeConversionException.class)
                .hasMessageContaining("'speed=5' is not a setting of the tracing");
        assertThatThrownBy(() -> settings("rate=-1")).hasMessageContaining("'-1' is not a number from 0 up");
        assertThatThrownBy(() -> settings("mode=file")).hasMessageContaining("triton or opentelemetry");
        assertThatThrownBy(() -> settings("level=ALL")).hasMessageContaining("TIMESTAMPS, TENSORS or OFF");
    }
}
