// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.grpc;

import com.google.protobuf.Int64Value;
import gatun.grpc.frames.OutboundMessage;
import gatun.grpc.message.RawMessage;
import gatun.grpc.message.WireReader;
import gatun.grpc.message.WireWriter;
import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import gatun.runtime.InferenceResponse.OutputTensor;
import gatun.runtime.ModelVersion;
import gatun.tensorflow.serving.ExampleMethod;
import gatun.tensorflow.serving.ExampleSignature;
import gatun.tensorflow.serving.ScoredClasses;
import gatun.tensorflow.serving.Servable;
import gatun.tensorflow.serving.ServingMetrics.Api;
import gatun.wire.tensorflow.serving.ModelSpec;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Makes a version's responses to examples, as messages. Thread-safe; the calling thread waits for the model. */
final class ExampleResponses {
    // Field numbers of ClassificationResponse and RegressionResponse.
    private static final int RESULT = 1;
    private static final int MODEL_SPEC = 2;

    // Field numbers of MultiInferenceResponse and InferenceResult.
    private static final int RESULTS = 1;
    private static final int RESULT_MODEL_SPEC = 1;
    private static final int CLASSIFICATION_RESULT = 2;
    private static final int REGRESSION_RESULT = 3;

    private final ExampleRuns runs;
    private final boolean methodNames;

    /** {@code methodNames}: signatures must have the methods that they are asked by. */
    ExampleResponses(ExampleRuns runs, boolean methodNames) {
        this.runs = runs;
        this.methodNames = methodNames;
    }

    /** The response to one task. Throws when the signature is not for {@code method}, or the model fails. */
    OutboundMessage answer(ModelVersion model, ExampleMethod method, ExampleMessage message) {
        Parts parts = new Parts();
        try {
            byte[] spec = spec(model, message.servable);
            Buffer result = result(model, message.servable, method, message, message::close);
            parts.own(result);
            WireWriter head = new WireWriter();
            head.header(RESULT, result.segment().byteSize());
            parts.add(head);
            parts.add(result.segment());
            WireWriter tail = new WireWriter();
            tail.bytes(MODEL_SPEC, spec);
            parts.add(tail);
            return parts.message();
        } catch (Throwable t) {
            parts.close();
            throw t;
        }
    }

    private Buffer result(
            ModelVersion model, Servable servable, ExampleMethod method, ExampleMessage message, Hold source) {
        // The signature's faults come before those of the input.
        ExampleSignature signature = ExampleSignature.of(model, method, servable, methodNames);
        return switch (method) {
            case CLASSIFY ->
                runs.run(model, servable, signature, Api.CLASSIFY, message, source, ExampleResults::classification);
            case REGRESS ->
                runs.run(model, servable, signature, Api.REGRESS, message, source, ExampleResults::regression);
        };
    }

    /** A MultiInferenceResponse to tasks that passed {@link #requireTasks}. Throws when one fails. */
    OutboundMessage answerTasks(ModelVersion model, ExampleMessage message) {
        Parts parts = new Parts();
        try {
            for (ExampleMessage.Task task : message.tasks) {
                Servable servable = task.servable();
                if (!ExampleSignature.exists(model, servable)) {
                    throw GatunException.invalidArgument(
                            "Requested signature not found in model graph: " + servable.entryPoint());
                }
                ExampleMethod method = method(task);
                // The next task wants the examples too.
                Buffer result = result(model, servable, method, message, RawMessage.NOTHING);
                parts.own(result);
                WireWriter fields = new WireWriter();
                fields.bytes(RESULT_MODEL_SPEC, spec(model, servable));
                fields.header(
                        method == ExampleMethod.CLASSIFY ? CLASSIFICATION_RESULT : REGRESSION_RESULT,
                        result.segment().byteSize());
                WireWriter head = new WireWriter();
                head.header(RESULTS, fields.size() + result.segment().byteSize());
                head.raw(fields);
                parts.add(head);
                parts.add(result.segment());
            }
            return parts.message();
        } catch (Throwable t) {
            parts.close();
            throw t;
        }
    }

    private static ExampleMethod method(ExampleMessage.Task task) {
        for (ExampleMethod method : ExampleMethod.values()) {
            if (task.method().equals(method.signatureMethod())) {
                return method;
            }
        }
        throw new GatunException(ErrorCode.UNSUPPORTED, "Unsupported signature method_name: " + task.method());
    }

    /** Throws INVALID_ARGUMENT unless there are tasks, all for one model and each for another signature. */
    static void requireTasks(List<ExampleMessage.Task> tasks) {
        if (tasks.isEmpty()) {
            throw GatunException.invalidArgument("Found ModelSpec with an empty model name.");
        }
        Set<String> signatures = new HashSet<>();
        for (ExampleMessage.Task task : tasks) {
            String name = task.servable().name();
            if (name.isEmpty()) {
                throw GatunException.invalidArgument("Found ModelSpec with an empty model name.");
            }
            if (!name.equals(tasks.getFirst().servable().name())) {
                throw GatunException.invalidArgument(
                        "All ModelSpecs in a MultiInferenceRequest must access the same model name.");
            }
            String signature = task.servable().entryPoint();
            if (!signatures.add(signature)) {
                throw GatunException.invalidArgument("Duplicate evaluation of signature: " + signature);
            }
        }
    }

    /** The ModelSpec of the version that answered, serialised; the signature as the client named it. */
    private static byte[] spec(ModelVersion model, Servable servable) {
        return ModelSpec.newBuilder()
                .setName(model.name())
                .setVersion(Int64Value.of(model.version()))
                .setSignatureName(servable.signature())
                .build()
                .toByteArray();
    }

    /** The parts of a response, and the buffers that they lie in. */
    private static final class Parts {
        private final List<MemorySegment> segments = new ArrayList<>(3);
        private final List<Buffer> buffers = new ArrayList<>(1);
        private long byteSize;

        void own(Buffer buffer) {
            buffers.add(buffer);
        }

        void add(WireWriter written) {
            add(written.segment());
        }

        void add(MemorySegment segment) {
            segments.add(segment);
            byteSize += segment.byteSize();
        }

        OutboundMessage message() {
            if (byteSize > Integer.MAX_VALUE) {
                throw GatunException.invalidArgument(
                        "the response has " + byteSize + " bytes; expected at most 2147483647, gRPC's limit");
            }
            return new OutboundMessage(segments.toArray(MemorySegment[]::new), this::close);
        }

        void close() {
            buffers.forEach(Buffer::close);
        }
    }

    /** Writes results for examples to pooled memory as serialised messages, measured first. */
    static final class ExampleResults {
        // Tags of ClassificationResult.classifications, Classifications.classes, and of a Class's label and score.
        private static final byte CLASSIFICATIONS = 1 << 3 | WireReader.LENGTH_DELIMITED;
        private static final byte CLASSES = 1 << 3 | WireReader.LENGTH_DELIMITED;
        private static final byte LABEL = 1 << 3 | WireReader.LENGTH_DELIMITED;
        private static final byte SCORE = 2 << 3 | WireReader.FIXED32;

        // Tags of RegressionResult.regressions and Regression.value.
        private static final byte REGRESSIONS = 1 << 3 | WireReader.LENGTH_DELIMITED;
        private static final byte VALUE = 1 << 3 | WireReader.FIXED32;
        private static final int FLOAT_FIELD_BYTES = 1 + Float.BYTES;

        private ExampleResults() {}

        /** A ClassificationResult; the caller owns its buffer. Throws INVALID_ARGUMENT when the outputs do not fit. */
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
        static Buffer regression(
                BufferPool pool, ExampleSignature signature, List<OutputTensor> outputs, long examples) {
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
}
