// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.grpc;

import com.google.protobuf.InvalidProtocolBufferException;
import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.spi.Backend;
import gatun.spi.BackendInstance;
import gatun.spi.BackendModel;
import gatun.spi.EntryPoint;
import gatun.spi.EntryTensor;
import gatun.spi.Execution;
import gatun.spi.InstanceSpec;
import gatun.tensorflow.serving.ExampleMethod;
import gatun.wire.inference.ModelConfig;
import gatun.wire.tensorflow.Example;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Judges examples by their feature "x": its values are the scores of classes "c0", "c1" and so on, and its first one is
 * the regression. Has a signature for each way to keep to TensorFlow's conventions, and to break them.
 */
final class JudgeBackend implements Backend {
    @Override
    public String name() {
        return "judge";
    }

    @Override
    public BackendModel load(ModelConfig config, Path versionDirectory) {
        return new Judge();
    }

    private static EntryTensor tensor(String name, Datatype datatype) {
        return new EntryTensor(new TensorSpec(name, datatype, Shape.of()), true, name + ":0");
    }

    private static EntryPoint signature(String name, String method, String... outputs) {
        return new EntryPoint(
                name,
                method,
                List.of(tensor("inputs", Datatype.BYTES)),
                Arrays.stream(outputs)
                        .map(output -> tensor(output, output.equals("classes") ? Datatype.BYTES : Datatype.FP32))
                        .toList());
    }

    private static final class Judge implements BackendModel, BackendInstance {
        @Override
        public BackendInstance newInstance(InstanceSpec spec) {
            return this;
        }

        @Override
        public List<EntryPoint> entryPoints() {
            return List.of(
                    signature("serving_default", ExampleMethod.CLASSIFY.signatureMethod(), "classes", "scores"),
                    signature("scores_only", ExampleMethod.CLASSIFY.signatureMethod(), "scores"),
                    signature("classes_only", ExampleMethod.CLASSIFY.signatureMethod(), "classes"),
                    signature("regress", ExampleMethod.REGRESS.signatureMethod(), "outputs"),
                    signature("column", ExampleMethod.REGRESS.signatureMethod(), "outputs"),
                    signature("other_output", "", "y"),
                    signature("many_outputs", "", "classes", "scores", "y"),
                    new EntryPoint(
                            "other_input",
                            "",
                            List.of(tensor("x", Datatype.BYTES)),
                            List.of(tensor("outputs", Datatype.FP32))),
                    new EntryPoint(
                            "two_inputs",
                            "",
                            List.of(tensor("inputs", Datatype.BYTES), tensor("x", Datatype.BYTES)),
                            List.of(tensor("outputs", Datatype.FP32))),
                    signature("flat_scores", "", "scores"),
                    signature("one_row_less", "", "scores"),
                    signature("one_class_less", "", "classes", "scores"),
                    signature("regress_wide", "", "outputs"),
                    signature("regress_short", "", "outputs"));
        }

        @Override
        public void execute(Execution execution) {
            execution.inferStarted();
            List<List<Float>> rows = rows(execution.input(0));
            for (int i = 0; i < execution.outputCount(); i++) {
                if (execution.outputName(i).equals("classes")) {
                    classes(execution, i, rows);
                } else {
                    numbers(execution, i, rows);
                }
            }
            execution.inferEnded();
        }

        private static List<List<Float>> rows(Tensor examples) {
            List<List<Float>> rows = new ArrayList<>();
            BytesCodec.forEach(examples.bytes(), (offset, byteSize) -> {
                byte[] bytes = examples.bytes().asSlice(offset, byteSize).toArray(ValueLayout.JAVA_BYTE);
                try {
                    rows.add(Example.parseFrom(bytes)
                            .getFeatures()
                            .getFeatureOrThrow("x")
                            .getFloatList()
                            .getValueList());
                } catch (InvalidProtocolBufferException e) {
                    throw new IllegalArgumentException(e);
                }
            });
            return rows;
        }

        private static void classes(Execution execution, int index, List<List<Float>> rows) {
            int count = rows.getFirst().size();
            List<String> labels = new ArrayList<>();
            rows.forEach(row -> {
                for (int k = 0; k < count; k++) {
                    labels.add("c" + k);
                }
            });
            MemorySegment target = execution.output(
                    index, Datatype.BYTES, Shape.of(rows.size(), count), BytesCodec.encodedTextByteSize(labels));
            BytesCodec.encodeText(labels, target);
        }

        private static void numbers(Execution execution, int index, List<List<Float>> rows) {
            int n = rows.size();
            int k = rows.getFirst().size();
            Shape shape =
                    switch (execution.entryPoint()) {
                        case "regress" -> Shape.of(n);
                        case "column" -> Shape.of(n, 1);
                        case "flat_scores" -> Shape.of((long) n * k);
                        case "one_row_less" -> Shape.of(n - 1, k);
                        case "one_class_less" -> Shape.of(n, k - 1);
                        case "regress_short" -> Shape.of(n - 1);
                        default -> Shape.of(n, k);
                    };
            MemorySegment target = execution.output(index, Datatype.FP32, shape, shape.elementCount() * Float.BYTES);
            int columns = (int) (shape.rank() == 1 ? 1 : shape.dim(1));
            for (long i = 0; i < shape.elementCount(); i++) {
                float value = rows.get((int) Math.min(i / columns, n - 1)).get((int) (i % columns));
                target.set(ElementLayouts.FP32, i * Float.BYTES, value);
            }
        }

        @Override
        public void close() {
            // Nothing is held.
        }
    }
}
