// SPDX-License-Identifier: Apache-2.0
package gatun.workers;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.spi.ConfigurationPath.Step;
import gatun.spi.CorrelationId;
import gatun.spi.ParameterValue;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Values as frames have them. What is read is checked, and fails with INTERNAL where it makes no sense. */
@SuppressWarnings("EnumOrdinal") // both sides are of one build
public final class FrameValues {
    private static final int BOOL = 0;
    private static final int INT64 = 1;
    private static final int UINT64 = 2;
    private static final int FP64 = 3;
    private static final int TEXT = 4;

    private static final int NO_SEQUENCE = 0;
    private static final int NUMBERED = 1;
    private static final int NAMED = 2;
    private static final int LEAST_PARAMETER_BYTES = 6;
    private static final Datatype[] DATATYPES = Datatype.values();
    private static final ErrorCode[] CODES = ErrorCode.values();

    private FrameValues() {}

    /** Writes parameters of a request or a response. */
    public static void writeParameters(FrameWriter frame, Map<String, ParameterValue> parameters) {
        frame.u32(parameters.size());
        parameters.forEach((name, value) -> writeParameter(frame, name, value));
    }

    /** Writes one parameter. */
    public static void writeParameter(FrameWriter frame, String name, ParameterValue value) {
        frame.text(name);
        switch (value) {
            case ParameterValue.Bool bool -> frame.u8(BOOL).u8(bool.value() ? 1 : 0);
            case ParameterValue.Int64 number -> frame.u8(INT64).u64(number.value());
            case ParameterValue.Uint64 number -> frame.u8(UINT64).u64(number.value());
            case ParameterValue.Fp64 number -> frame.u8(FP64).f64(number.value());
            case ParameterValue.Text text -> frame.u8(TEXT).text(text.value());
        }
    }

    /** The parameters that were written, in their order. */
    public static Map<String, ParameterValue> readParameters(FrameReader frame) {
        int count = frame.count(LEAST_PARAMETER_BYTES);
        if (count == 0) {
            return Map.of();
        }
        Map<String, ParameterValue> parameters = new LinkedHashMap<>();
        for (int i = 0; i < count; i++) {
            String name = frame.text();
            parameters.put(name, readParameter(frame));
        }
        return parameters;
    }

    /** The value of a parameter whose name was read. */
    public static ParameterValue readParameter(FrameReader frame) {
        return switch (frame.u8()) {
            case BOOL -> new ParameterValue.Bool(frame.u8() != 0);
            case INT64 -> new ParameterValue.Int64(frame.u64());
            case UINT64 -> new ParameterValue.Uint64(frame.u64());
            case FP64 -> new ParameterValue.Fp64(frame.f64());
            default -> new ParameterValue.Text(frame.text());
        };
    }

    /** Writes the sequence that a request is a step of. */
    public static void writeSequence(FrameWriter frame, Optional<CorrelationId> sequence) {
        if (sequence.isEmpty()) {
            frame.u8(NO_SEQUENCE);
            return;
        }
        switch (sequence.get()) {
            case CorrelationId.Uint64 number -> frame.u8(NUMBERED).u64(number.value());
            case CorrelationId.Text text -> frame.u8(NAMED).text(text.value());
        }
    }

    /** The sequence that was written; the number 0 and an empty name stand for none. */
    public static Optional<CorrelationId> readSequence(FrameReader frame) {
        return switch (frame.u8()) {
            case NO_SEQUENCE -> Optional.empty();
            case NUMBERED -> {
                long number = frame.u64();
                yield number == 0 ? Optional.empty() : Optional.of(new CorrelationId.Uint64(number));
            }
            default -> {
                String text = frame.text();
                yield text.isEmpty() ? Optional.empty() : Optional.of(new CorrelationId.Text(text));
            }
        };
    }

    /** Writes a shape; dimensions may be -1. */
    public static void writeShape(FrameWriter frame, Shape shape) {
        frame.u32(shape.rank());
        for (int i = 0; i < shape.rank(); i++) {
            frame.u64(shape.dim(i));
        }
    }

    /** The shape that was written. */
    public static Shape readShape(FrameReader frame) {
        long[] dims = new long[frame.count(Long.BYTES)];
        for (int i = 0; i < dims.length; i++) {
            dims[i] = frame.u64();
        }
        return Shape.of(dims);
    }

    /** Writes name, datatype and shape; for workers of the same build, which number datatypes alike. */
    public static void writeSpec(FrameWriter frame, TensorSpec spec) {
        writeDatatype(frame.text(spec.name()), spec.datatype());
        writeShape(frame, spec.shape());
    }

    /** The name, datatype and shape that were written. */
    public static TensorSpec readSpec(FrameReader frame) {
        String name = frame.text();
        return new TensorSpec(name, readDatatype(frame), readShape(frame));
    }

    /** Writes a datatype as its number; for workers of the same build. */
    public static void writeDatatype(FrameWriter frame, Datatype datatype) {
        frame.u8(datatype.ordinal());
    }

    /** The datatype that was written. */
    public static Datatype readDatatype(FrameReader frame) {
        int number = frame.u8();
        if (number >= DATATYPES.length) {
            throw new MalformedFrameException("a worker sent datatype number " + number);
        }
        return DATATYPES[number];
    }

    /** Writes a failure: its code, its text, and where in the model's configuration it is, if it is a mistake there. */
    public static void writeFailure(FrameWriter frame, GatunException failure) {
        String message = failure.getMessage();
        frame.u8(failure.code().ordinal()).text(message == null ? "" : message);
        if (failure instanceof ConfigurationException mistake) {
            List<Step> steps = mistake.path().steps();
            frame.u8(1).u32(steps.size());
            steps.forEach(step -> frame.text(step.field()).text(step.element()));
            frame.text(mistake.advice());
        } else {
            frame.u8(0);
        }
    }

    /** The failure that was written. */
    public static GatunException readFailure(FrameReader frame) {
        int code = frame.u8();
        String message = frame.text();
        if (frame.u8() == 0) {
            return new GatunException(code < CODES.length ? CODES[code] : ErrorCode.UNKNOWN, message);
        }
        List<Step> steps = frame.list(2 * Integer.BYTES, () -> new Step(frame.text(), frame.text()));
        return new ConfigurationException(new ConfigurationPath(steps), message, frame.text());
    }
}
