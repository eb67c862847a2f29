// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.backend.python.Codec.WorkerTensor;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import gatun.spi.CorrelationId;
import gatun.spi.ParameterValue;
import gatun.workers.FrameValues;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class CodecTest {
    /** The datatypes that numpy and Triton's Python models have. */
    private static final Set<Datatype> PYTHON = EnumSet.range(Datatype.BOOL, Datatype.BYTES);

    private final Echo echo = new Echo();

    @AfterEach
    void close() {
        echo.close();
    }

    private WorkerTensor tensor(TensorSpec spec, long offset, long byteSize) {
        return echo.through(frame -> Codec.writeTensor(frame, spec, offset, byteSize), Codec::readTensor);
    }

    @Test
    void shouldReadTheTensorsThatItWrites() {
        for (Datatype datatype : PYTHON) {
            TensorSpec spec = new TensorSpec("in " + datatype, datatype, Shape.of(3, 0, 1L << 40));
            assertThat(tensor(spec, 1L << 43, 12)).isEqualTo(new WorkerTensor(spec, 1L << 43, 12));
        }
        TensorSpec scalar = new TensorSpec("", Datatype.FP32, Shape.of());
        assertThat(tensor(scalar, 0, 4)).isEqualTo(new WorkerTensor(scalar, 0, 4));
    }

    @Test
    void shouldGiveDatatypesTheNumbersThatWorkersKnow() {
        List<Datatype> numbered = List.of(
                Datatype.BOOL,
                Datatype.UINT8,
                Datatype.UINT16,
                Datatype.UINT32,
                Datatype.UINT64,
                Datatype.INT8,
                Datatype.INT16,
                Datatype.INT32,
                Datatype.INT64,
                Datatype.FP16,
                Datatype.FP32,
                Datatype.FP64,
                Datatype.BYTES,
                Datatype.BF16);
        assertThat(numbered).containsExactlyInAnyOrderElementsOf(PYTHON);
        for (int i = 0; i < numbered.size(); i++) {
            TensorSpec spec = new TensorSpec("", numbered.get(i), Shape.of());
            int number = echo.through(frame -> Codec.writeTensor(frame, spec, 0, 0), frame -> {
                assertThat(frame.text()).isEmpty();
                return frame.u8();
            });
            assertThat(number).as("%s", numbered.get(i)).isEqualTo(i + 1);
        }
    }

    @Test
    void shouldRefuseDatatypesThatPythonModelsDoNotHave() {
        Set<Datatype> others = EnumSet.complementOf(EnumSet.copyOf(PYTHON));
        others.remove(Datatype.INVALID);
        assertThat(others).contains(Datatype.COMPLEX64, Datatype.QINT8, Datatype.INT4);
        for (Datatype other : others) {
            assertThatThrownBy(() -> tensor(new TensorSpec("x", other, Shape.of(1)), 0, 1))
                    .isInstanceOfSatisfying(
                            GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.UNSUPPORTED))
                    .hasMessage("tensor 'x' is " + other + ", which Python models do not have");
        }
        TensorSpec next = new TensorSpec("y", Datatype.INT8, Shape.of(1));
        assertThat(tensor(next, 64, 1)).as("nothing of those was sent").isEqualTo(new WorkerTensor(next, 64, 1));
    }

    @Test
    void shouldRefuseTensorsOfNoDatatype() {
        for (int number : new int[] {0, 255}) {
            assertThatThrownBy(() -> echo.through(
                            frame -> frame.text("x").u8(number).u32(0).u64(0).u64(0), Codec::readTensor))
                    .isInstanceOfSatisfying(
                            GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INTERNAL))
                    .hasMessage("a worker sent tensor 'x' of no datatype");
        }
    }

    @Test
    void shouldRefuseNegativeDimensions() {
        for (long dim : new long[] {-1, -5, Long.MIN_VALUE}) {
            assertThatThrownBy(() -> echo.through(
                            frame -> frame.text("x")
                                    .u8(13)
                                    .u32(2)
                                    .u64(4)
                                    .u64(dim)
                                    .u64(0)
                                    .u64(0),
                            Codec::readTensor))
                    .isInstanceOfSatisfying(
                            GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INTERNAL))
                    .hasMessage("a worker sent tensor 'x' of shape [4," + dim + "], which no tensor has");
        }
    }

    @Test
    void shouldRefuseMoreDimensionsThanTheFrameHas() {
        assertThatThrownBy(() -> echo.through(
                        frame -> frame.text("x")
                                .u8(1)
                                .u32(Integer.MAX_VALUE)
                                .u64(1)
                                .u64(0),
                        Codec::readTensor))
                .isInstanceOf(GatunException.class)
                .hasMessage("a worker sent a frame that ends too early");
    }

    @Test
    void shouldReadTheParametersThatItWrites() {
        Map<String, ParameterValue> parameters = new LinkedHashMap<>();
        parameters.put("yes", new ParameterValue.Bool(true));
        parameters.put("no", new ParameterValue.Bool(false));
        parameters.put("least", new ParameterValue.Int64(Long.MIN_VALUE));
        parameters.put("most", new ParameterValue.Uint64(-1));
        parameters.put("third", new ParameterValue.Fp64(1.0 / 3));
        parameters.put("", new ParameterValue.Text("naïve 模型"));

        Map<String, ParameterValue> read =
                echo.through(frame -> FrameValues.writeParameters(frame, parameters), FrameValues::readParameters);
        assertThat(read).containsExactlyEntriesOf(parameters);
        assertThat(echo.through(frame -> FrameValues.writeParameters(frame, Map.of()), FrameValues::readParameters))
                .isEmpty();
    }

    @Test
    void shouldReadTheSequencesThatItWrites() {
        for (Optional<CorrelationId> sequence : List.<Optional<CorrelationId>>of(
                Optional.empty(),
                Optional.of(new CorrelationId.Uint64(-1)),
                Optional.of(new CorrelationId.Uint64(1)),
                Optional.of(new CorrelationId.Text("7")))) {
            assertThat(echo.through(frame -> FrameValues.writeSequence(frame, sequence), FrameValues::readSequence))
                    .isEqualTo(sequence);
        }
        assertThat(echo.through(frame -> frame.u8(1).u64(0), FrameValues::readSequence))
                .as("0 is no sequence")
                .isEmpty();
        assertThat(echo.through(frame -> frame.u8(2).text(""), FrameValues::readSequence))
                .as("the empty text is no sequence")
                .isEmpty();
    }

    @Test
    void shouldGiveErrorsTritonsNumbers() {
        List<ErrorCode> codes = List.of(
                ErrorCode.UNKNOWN,
                ErrorCode.INTERNAL,
                ErrorCode.NOT_FOUND,
                ErrorCode.INVALID_ARGUMENT,
                ErrorCode.UNAVAILABLE,
                ErrorCode.UNSUPPORTED,
                ErrorCode.ALREADY_EXISTS,
                ErrorCode.CANCELLED);
        for (int i = 0; i < codes.size(); i++) {
            assertThat(Codec.code(codes.get(i))).isEqualTo(i);
            GatunException error = Codec.error(i, "why");
            assertThat(error.code()).isEqualTo(codes.get(i));
            assertThat(error).hasMessage("why");
        }
        assertThat(Codec.code(ErrorCode.RESOURCE_EXHAUSTED)).isEqualTo(codes.indexOf(ErrorCode.UNAVAILABLE));
        assertThat(Codec.error(8, "why").code()).isEqualTo(ErrorCode.UNKNOWN);
        assertThat(Codec.error(255, "why").code()).isEqualTo(ErrorCode.UNKNOWN);
    }
}
