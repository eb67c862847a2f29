// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import gatun.spi.CorrelationId;
import gatun.spi.Datatypes;
import gatun.spi.ParameterValue;
import gatun.wire.inference.DataType;
import gatun.workers.FrameReader;
import gatun.workers.FrameWriter;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** Values as frames have them. */
final class Codec {
    private static final int BOOL = 0;
    private static final int INT64 = 1;
    private static final int UINT64 = 2;
    private static final int FP64 = 3;
    private static final int TEXT = 4;

    private static final int NO_SEQUENCE = 0;
    private static final int NUMBERED = 1;
    private static final int NAMED = 2;

    /** Key, type and one byte of value. */
    private static final int LEAST_PARAMETER_BYTES = 6;

    /** By the numbers of Triton's own codes. */
    private static final ErrorCode[] CODES = {
        ErrorCode.UNKNOWN,
        ErrorCode.INTERNAL,
        ErrorCode.NOT_FOUND,
        ErrorCode.INVALID_ARGUMENT,
        ErrorCode.UNAVAILABLE,
        ErrorCode.UNSUPPORTED,
        ErrorCode.ALREADY_EXISTS,
        ErrorCode.CANCELLED
    };

    private Codec() {}

    /** A failure that a worker tells. */
    static GatunException error(int code, String message) {
        return new GatunException(code < CODES.length ? CODES[code] : ErrorCode.UNKNOWN, message);
    }

    /** The number of a code; those that Triton does not have are the nearest. */
    static int code(ErrorCode code) {
        for (int i = 0; i < CODES.length; i++) {
            if (CODES[i] == code) {
                return i;
            }
        }
        return code(ErrorCode.UNAVAILABLE);
    }

    /** @throws GatunException UNSUPPORTED for a datatype that Python models do not have */
    static void writeTensor(FrameWriter frame, TensorSpec spec, long offset, long byteSize) {
        int datatype = Datatypes.configured(spec.datatype()).getNumber();
        if (datatype > DataType.TYPE_BF16_VALUE) {
            throw new GatunException(
                    ErrorCode.UNSUPPORTED,
                    "tensor '" + spec.name() + "' is " + spec.datatype() + ", which Python models do not have");
        }
        frame.text(spec.name()).u8(datatype).u32(spec.shape().rank());
        for (int i = 0; i < spec.shape().rank(); i++) {
            frame.u64(spec.shape().dim(i));
        }
        frame.u64(offset).u64(byteSize);
    }

    static WorkerTensor readTensor(FrameReader frame) {
        String name = frame.text();
        DataType configured = DataType.forNumber(frame.u8());
        if (configured == null || configured == DataType.TYPE_INVALID) {
            throw new GatunException(ErrorCode.INTERNAL, "a worker sent tensor '" + name + "' of no datatype");
        }
        Datatype datatype = Datatypes.of(configured);
        long[] dims = new long[frame.count(Long.BYTES)];
        for (int i = 0; i < dims.length; i++) {
            dims[i] = frame.u64();
        }
        return new WorkerTensor(new TensorSpec(name, datatype, Shape.of(dims)), frame.u64(), frame.u64());
    }

    static void writeParameters(FrameWriter frame, Map<String, ParameterValue> parameters) {
        frame.u32(parameters.size());
        parameters.forEach((name, value) -> {
            frame.text(name);
            switch (value) {
                case ParameterValue.Bool bool -> frame.u8(BOOL).u8(bool.value() ? 1 : 0);
                case ParameterValue.Int64 number -> frame.u8(INT64).u64(number.value());
                case ParameterValue.Uint64 number -> frame.u8(UINT64).u64(number.value());
                case ParameterValue.Fp64 number -> frame.u8(FP64).f64(number.value());
                case ParameterValue.Text text -> frame.u8(TEXT).text(text.value());
            }
        });
    }

    static Map<String, ParameterValue> readParameters(FrameReader frame) {
        int count = frame.count(LEAST_PARAMETER_BYTES);
        if (count == 0) {
            return Map.of();
        }
        Map<String, ParameterValue> parameters = new LinkedHashMap<>();
        for (int i = 0; i < count; i++) {
            String name = frame.text();
            parameters.put(
                    name,
                    switch (frame.u8()) {
                        case BOOL -> new ParameterValue.Bool(frame.u8() != 0);
                        case INT64 -> new ParameterValue.Int64(frame.u64());
                        case UINT64 -> new ParameterValue.Uint64(frame.u64());
                        case FP64 -> new ParameterValue.Fp64(frame.f64());
                        default -> new ParameterValue.Text(frame.text());
                    });
        }
        return parameters;
    }

    static void writeSequence(FrameWriter frame, Optional<CorrelationId> sequence) {
        if (sequence.isEmpty()) {
            frame.u8(NO_SEQUENCE);
            return;
        }
        switch (sequence.get()) {
            case CorrelationId.Uint64 number -> frame.u8(NUMBERED).u64(number.value());
            case CorrelationId.Text text -> frame.u8(NAMED).text(text.value());
        }
    }

    static Optional<CorrelationId> readSequence(FrameReader frame) {
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
}
