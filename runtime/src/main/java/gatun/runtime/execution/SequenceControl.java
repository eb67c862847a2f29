// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import gatun.runtime.scheduling.SequenceStep;
import gatun.spi.CorrelationId;
import gatun.spi.Datatypes;
import gatun.wire.inference.ModelSequenceBatching.Control;
import gatun.wire.inference.ModelSequenceBatching.ControlInput;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;

/**
 * An input that tells the model where in its sequence each row's step stands. {@code no}, also for no id, and
 * {@code yes} are elements, for FP32 the bits of floats. Immutable.
 */
record SequenceControl(String name, Control.Kind kind, Datatype datatype, int no, int yes) {
    static SequenceControl of(ControlInput input) {
        Control control = input.getControl(0);
        Datatype datatype = Datatypes.ofControl(control);
        return new SequenceControl(
                input.getName(), control.getKind(), datatype, value(control, datatype, 0), value(control, datatype, 1));
    }

    private static int value(Control control, Datatype datatype, int index) {
        if (control.getKind() == Control.Kind.CONTROL_SEQUENCE_CORRID) {
            return 0;
        }
        if (datatype == Datatype.INT32) {
            return control.getInt32FalseTrue(index);
        }
        if (datatype == Datatype.FP32) {
            return Float.floatToRawIntBits(control.getFp32FalseTrue(index));
        }
        return control.getBoolFalseTrue(index) ? 1 : 0;
    }

    /** How many bytes the row of {@code step} takes; of a row without a step when that is empty. */
    long rowByteSize(Optional<SequenceStep> step) {
        if (datatype != Datatype.BYTES) {
            return datatype.byteSize();
        }
        return BytesCodec.LENGTH_BYTES + BytesCodec.utf8ByteSize(text(step));
    }

    long writeRow(Optional<SequenceStep> step, MemorySegment target, long offset) {
        switch (kind) {
            case CONTROL_SEQUENCE_START ->
                writeFlag(step.isPresent() && step.get().starts(), target, offset);
            case CONTROL_SEQUENCE_END ->
                writeFlag(step.isPresent() && step.get().ends(), target, offset);
            case CONTROL_SEQUENCE_READY -> writeFlag(step.isPresent(), target, offset);
            case CONTROL_SEQUENCE_CORRID -> {
                return writeId(step, target, offset);
            }
            case UNRECOGNIZED -> throw new AssertionError("an unchecked kind of control '" + name + "'");
        }
        return offset + datatype.byteSize();
    }

    private void writeFlag(boolean flag, MemorySegment target, long offset) {
        int value = flag ? yes : no;
        if (datatype == Datatype.BOOL) {
            target.set(ValueLayout.JAVA_BYTE, offset, (byte) value);
        } else {
            target.set(ElementLayouts.INT32, offset, value);
        }
    }

    private long writeId(Optional<SequenceStep> step, MemorySegment target, long offset) {
        if (datatype == Datatype.BYTES) {
            return BytesCodec.putText(target, offset, text(step));
        }
        long number = step.isPresent() && AssignedId.of(step.get()) instanceof CorrelationId.Uint64 id ? id.value() : 0;
        if (datatype.byteSize() == Long.BYTES) {
            target.set(ElementLayouts.INT64, offset, number);
        } else {
            target.set(ElementLayouts.INT32, offset, (int) number);
        }
        return offset + datatype.byteSize();
    }

    private static String text(Optional<SequenceStep> step) {
        return step.isPresent() ? AssignedId.of(step.get()).toString() : "";
    }
}
