// SPDX-License-Identifier: Apache-2.0
package gatun.backend.sequence;

import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Tensor;
import gatun.spi.Execution;
import gatun.wire.inference.ModelSequenceBatching;
import gatun.wire.inference.ModelSequenceBatching.Control.Kind;
import gatun.wire.inference.ModelSequenceBatching.ControlInput;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Optional;

/**
 * A control input.
 *
 * @param name its name among the inputs
 * @param values its values for false and for true
 */
record Control(String name, ModelSequenceBatching.Control values) {
    /** Whether it says true for that row of the batch. */
    boolean isSet(Execution execution, long row) {
        Tensor tensor = tensor(execution);
        MemorySegment bytes = tensor.bytes();
        return switch (tensor.spec().datatype()) {
            case INT32 -> bytes.getAtIndex(ElementLayouts.INT32, row) == values.getInt32FalseTrue(1);
            case FP32 -> bytes.getAtIndex(ElementLayouts.FP32, row) == values.getFp32FalseTrue(1);
            case BOOL -> (bytes.get(ValueLayout.JAVA_BYTE, row) != 0) == values.getBoolFalseTrue(1);
            default -> throw unexpected(tensor);
        };
    }

    /** The correlation id in that row of the batch: a Long or a String. */
    Object id(Execution execution, int row) {
        Tensor tensor = tensor(execution);
        MemorySegment bytes = tensor.bytes();
        return switch (tensor.spec().datatype()) {
            case INT64, UINT64 -> bytes.getAtIndex(ElementLayouts.INT64, row);
            case INT32, UINT32 -> Integer.toUnsignedLong(bytes.getAtIndex(ElementLayouts.INT32, row));
            case BYTES -> text(bytes, row);
            default -> throw unexpected(tensor);
        };
    }

    private static String text(MemorySegment bytes, int row) {
        long at = 0;
        for (int i = 0; i < row; i++) {
            at += BytesCodec.LENGTH_BYTES + BytesCodec.elementByteSize(bytes, at);
        }
        return BytesCodec.text(bytes, at + BytesCodec.LENGTH_BYTES, BytesCodec.elementByteSize(bytes, at));
    }

    private Tensor tensor(Execution execution) {
        for (int i = 0; i < execution.inputCount(); i++) {
            if (execution.inputSpec(i).name().equals(name)) {
                return execution.input(i);
            }
        }
        throw GatunException.invalidArgument("the run has no control input '" + name + "'");
    }

    private GatunException unexpected(Tensor tensor) {
        return GatunException.invalidArgument("control input '" + name + "' is of "
                + tensor.spec().datatype() + ", which the sequence_accumulator backend does not read");
    }

    /**
     * The control inputs of a model, by their kinds.
     *
     * @param start that a sequence begins
     * @param end that it ends
     * @param ready that a row of the batch is a request at all
     * @param correlationId whose row it is
     */
    record Controls(
            Optional<Control> start, Optional<Control> end, Optional<Control> ready, Optional<Control> correlationId) {
        static Controls of(List<ControlInput> inputs) {
            return new Controls(
                    find(inputs, Kind.CONTROL_SEQUENCE_START),
                    find(inputs, Kind.CONTROL_SEQUENCE_END),
                    find(inputs, Kind.CONTROL_SEQUENCE_READY),
                    find(inputs, Kind.CONTROL_SEQUENCE_CORRID));
        }

        private static Optional<Control> find(List<ControlInput> inputs, Kind kind) {
            for (ControlInput input : inputs) {
                for (ModelSequenceBatching.Control control : input.getControlList()) {
                    if (control.getKind() == kind) {
                        return Optional.of(new Control(input.getName(), control));
                    }
                }
            }
            return Optional.empty();
        }
    }
}
