// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.grpc;

import gatun.grpc.message.WireReader;
import gatun.grpc.message.WireWriter;
import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.ElementLayouts;
import gatun.runtime.OutputTensor;
import gatun.tensorflow.serving.ExampleSignature;
import gatun.tensorflow.serving.ScoredClasses;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/**
 * Writes the results for examples as serialised messages into memory of the pool: they are measured first, and neither
 * a class nor an example becomes an object.
 */
final class ExampleResults {
    // Tags of ClassificationResult.classifications, Classifications.classes, and of a Class's label and score.
    private static final byte CLASSIFICATIONS = 1 << 3 | WireReader.LENGTH_DELIMITED;
    private static final byte CLASSES = 1 << 3 | WireReader.LENGTH_DELIMITED;
    private static final byte LABEL = 1 << 3 | WireReader.LENGTH_DELIMITED;
    private static final byte SCORE = 2 << 3 | WireReader.FIXED32;

    // Tags of RegressionResult.regressions and Regression.value.
    private static final byte REGRESSIONS = 1 << 3 | WireReader.LENGTH_DELIMITED;
    private static final byte VALUE = 1 << 3 | WireReader.FIXED32;

    /** Bytes of a float with its tag. */
    private static final int FLOAT_FIELD_BYTES = 1 + Float.BYTES;

    private ExampleResults() {}

    /**
     * A ClassificationResult; the caller owns its buffer.
     *
     * @param examples how many examples were given
     * @throws gatun.memory.tensor.GatunException INVALID_ARGUMENT when the outputs are not as they should be
     */
    static Buffer classification(
            BufferPool pool, ExampleSignature signature, List<OutputTensor> outputs, long examples) {
        ScoredClasses measured = signature.classes(outputs, examples);
        long byteSize = 0;
        for (long i = 0; i < examples; i++) {
            byteSize += delimitedSize(rowSize(measured));
        }
        Buffer buffer = pool.take(byteSize);
        MemorySegment target = buffer.segment();
        ScoredClasses ahead = signature.classes(outputs, examples);
        ScoredClasses classes = signature.classes(outputs, examples);
        long at = 0;
        for (long i = 0; i < examples; i++) {
            target.set(ValueLayout.JAVA_BYTE, at, CLASSIFICATIONS);
            at = ValueWriter.putVarint(target, at + 1, rowSize(ahead));
            for (long k = 0; k < classes.classCount(); k++) {
                at = putClass(target, at, classes.labels(), classes.nextLabel(), classes.nextScore());
            }
        }
        return buffer;
    }

    /** Bytes of the next example's Classifications; moves {@code classes} on. */
    private static long rowSize(ScoredClasses classes) {
        long byteSize = 0;
        for (long k = 0; k < classes.classCount(); k++) {
            long label = BytesCodec.elementByteSize(classes.labels(), classes.nextLabel());
            byteSize += delimitedSize(classSize(label, classes.nextScore()));
        }
        return byteSize;
    }

    private static long classSize(long labelByteSize, float score) {
        return (labelByteSize == 0 ? 0 : delimitedSize(labelByteSize)) + floatSize(score);
    }

    private static long putClass(MemorySegment target, long offset, MemorySegment labels, long label, float score) {
        long labelByteSize = BytesCodec.elementByteSize(labels, label);
        target.set(ValueLayout.JAVA_BYTE, offset, CLASSES);
        long at = ValueWriter.putVarint(target, offset + 1, classSize(labelByteSize, score));
        if (labelByteSize > 0) {
            target.set(ValueLayout.JAVA_BYTE, at, LABEL);
            at = ValueWriter.putVarint(target, at + 1, labelByteSize);
            MemorySegment.copy(labels, label + BytesCodec.LENGTH_BYTES, target, at, labelByteSize);
            at += labelByteSize;
        }
        return putFloat(target, at, SCORE, score);
    }

    /** A RegressionResult; as {@link #classification}. */
    static Buffer regression(BufferPool pool, ExampleSignature signature, List<OutputTensor> outputs, long examples) {
        MemorySegment values = signature.values(outputs, examples);
        long byteSize = 0;
        for (long i = 0; i < examples; i++) {
            byteSize += delimitedSize(floatSize(values.get(ElementLayouts.FP32, i * Float.BYTES)));
        }
        Buffer buffer = pool.take(byteSize);
        MemorySegment target = buffer.segment();
        long at = 0;
        for (long i = 0; i < examples; i++) {
            float value = values.get(ElementLayouts.FP32, i * Float.BYTES);
            target.set(ValueLayout.JAVA_BYTE, at, REGRESSIONS);
            at = ValueWriter.putVarint(target, at + 1, floatSize(value));
            at = putFloat(target, at, VALUE, value);
        }
        return buffer;
    }

    /** Bytes of a length-delimited field with a number below 16. */
    private static long delimitedSize(long byteSize) {
        return 1 + WireWriter.varintSize(byteSize) + byteSize;
    }

    /** As always in protobuf, zero is left out, and negative zero is not. */
    private static int floatSize(float value) {
        return Float.floatToRawIntBits(value) == 0 ? 0 : FLOAT_FIELD_BYTES;
    }

    private static long putFloat(MemorySegment target, long offset, byte tag, float value) {
        if (floatSize(value) == 0) {
            return offset;
        }
        target.set(ValueLayout.JAVA_BYTE, offset, tag);
        target.set(ElementLayouts.FP32, offset + 1, value);
        return offset + FLOAT_FIELD_BYTES;
    }
}
