package gatun.server.commandline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.runtime.tracing.TraceLevel;
import gatun.runtime.tracing.TraceSettings;
import gatun.server.TracingSettings;
import java.nio.file.Path;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
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
    void shouldRefuseWhatMeansNothing() {
        assertThatThrownBy(() -> settings("speed=5"))
                .isInstanceOf(TypeConversionException.class)
                .hasMessageContaining("'speed=5' is not a setting of the tracing");
        assertThatThrownBy(() -> settings("rate=0")).hasMessageContaining("'0' is not a number from 1 up");
        assertThatThrownBy(() -> settings("level=ALL")).hasMessageContaining("TIMESTAMPS, TENSORS or OFF");
    }
}
