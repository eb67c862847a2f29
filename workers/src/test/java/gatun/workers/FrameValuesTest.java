// SPDX-License-Identifier: Apache-2.0
package gatun.workers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.spi.CorrelationId;
import gatun.spi.ParameterValue;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class FrameValuesTest {
    private static FrameReader read(Consumer<FrameWriter> body) {
        FrameWriter writer = new FrameWriter();
        writer.begin(0);
        body.accept(writer);
        ByteBuffer frame = writer.end();
        return new FrameReader(frame.position(Integer.BYTES + 1).slice());
    }

    @Test
    void shouldGiveParametersBackAsTheyWere() {
        Map<String, ParameterValue> parameters = new LinkedHashMap<>();
        parameters.put("b", new ParameterValue.Bool(true));
        parameters.put("i", new ParameterValue.Int64(-5));
        parameters.put("u", new ParameterValue.Uint64(-1));
        parameters.put("d", new ParameterValue.Fp64(0.5));
        parameters.put("t", new ParameterValue.Text("\u00e9"));
        assertThat(FrameValues.readParameters(read(frame -> FrameValues.writeParameters(frame, parameters))))
                .containsExactlyEntriesOf(parameters);
    }

    @Test
    void shouldGiveSequencesBackAsTheyWere() {
        for (CorrelationId id : new CorrelationId[] {new CorrelationId.Uint64(7), new CorrelationId.Text("s")}) {
            assertThat(FrameValues.readSequence(read(frame -> FrameValues.writeSequence(frame, Optional.of(id)))))
                    .hasValue(id);
        }
        assertThat(FrameValues.readSequence(read(frame -> FrameValues.writeSequence(frame, Optional.empty()))))
                .isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void shouldGiveTensorsBackAsTheyWere(Datatype datatype) {
        TensorSpec spec = new TensorSpec("T", datatype, Shape.of(3, -1));
        assertThat(FrameValues.readSpec(read(frame -> FrameValues.writeSpec(frame, spec))))
                .isEqualTo(spec);
    }

    @ParameterizedTest
    @EnumSource
    void shouldGiveFailuresBackAsTheyWere(ErrorCode code) {
        GatunException failure = new GatunException(code, "why");
        assertThat(FrameValues.readFailure(read(frame -> FrameValues.writeFailure(frame, failure))))
                .hasMessage("why")
                .satisfies(e -> assertThat(e.code()).isEqualTo(code));
    }

    @Test
    void shouldKeepThePlaceOfAMistakeAndItsRemedy() {
        ConfigurationException mistake = new ConfigurationException(
                ConfigurationPath.of("input", "a[\"0").then("dims"), "too many", "write two");
        assertThat(FrameValues.readFailure(read(frame -> FrameValues.writeFailure(frame, mistake))))
                .isInstanceOfSatisfying(ConfigurationException.class, read -> {
                    assertThat(read.path()).isEqualTo(mistake.path());
                    assertThat(read).hasMessage("too many");
                    assertThat(read.advice()).isEqualTo("write two");
                });
    }

    @Test
    void shouldRefuseWhatMakesNoSense() {
        assertThatExceptionOfType(GatunException.class)
                .isThrownBy(() -> FrameValues.readDatatype(read(frame -> frame.u8(250))))
                .withMessage("a worker sent datatype number 250");
        assertThatExceptionOfType(GatunException.class)
                .isThrownBy(() -> FrameValues.readShape(read(frame -> frame.u32(1 << 30))))
                .withMessage("a worker sent a frame that ends too early");
    }
}
