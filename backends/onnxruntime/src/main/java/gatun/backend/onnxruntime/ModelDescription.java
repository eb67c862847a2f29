// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import gatun.backend.onnxruntime.ModelDescription.TensorDescription;
import gatun.bindings.NativeMemory;
import gatun.bindings.onnxruntime.OrtApi;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import gatun.spi.EntryTensor;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelOutput;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A model's inputs, initialisers apart, and outputs, as its file describes them, in the file's order. */
record ModelDescription(List<TensorDescription> inputs, List<TensorDescription> outputs) {
    /** Describes an open session. Throws {@link GatunException} for an input or output that is no tensor. */
    static ModelDescription of(Engine engine, MemorySegment session) {
        try (Arena scratch = Arena.ofConfined()) {
            Reader reader = new Reader(engine, session, scratch);
            return new ModelDescription(reader.all(true), reader.all(false));
        }
    }

    /** The inputs, without the names of their dimensions. */
    List<EntryTensor> entryInputs() {
        return inputs.stream().map(TensorDescription::entryTensor).toList();
    }

    /** The outputs, without the names of their dimensions. */
    List<EntryTensor> entryOutputs() {
        return outputs.stream().map(TensorDescription::entryTensor).toList();
    }

    /** An input's index, mostly {@code position}. Throws {@link GatunException} INVALID_ARGUMENT for none. */
    int inputIndex(String name, int position) {
        return indexOf(inputs, name, position);
    }

    /** Which output has that name; otherwise as {@link #inputIndex}. */
    int outputIndex(String name, int position) {
        return indexOf(outputs, name, position);
    }

    private static int indexOf(List<TensorDescription> tensors, String name, int position) {
        if (position < tensors.size() && tensors.get(position).name().equals(name)) {
            return position;
        }
        for (int i = 0; i < tensors.size(); i++) {
            if (tensors.get(i).name().equals(name)) {
                return i;
            }
        }
        throw GatunException.invalidArgument("the model file has no tensor '" + name + "'");
    }

    /** The way out for the sequences of maps that classifiers of scikit-learn give. */
    private static final String ZIP_MAP =
            ". Classifiers of scikit-learn give probabilities as a sequence of maps (ZipMap)"
                    + " unless they are converted with options={'zipmap': False}: then they are a tensor";

    /** Reads inputs or outputs with one scratch arena. */
    private record Reader(Engine engine, MemorySegment session, Arena scratch) {
        List<TensorDescription> all(boolean inputs) {
            MemorySegment api = engine.api();
            MemorySegment out = scratch.allocate(ValueLayout.JAVA_LONG);
            engine.check(
                    inputs
                            ? OrtApi.sessionGetInputCount(api, session, out)
                            : OrtApi.sessionGetOutputCount(api, session, out));
            long count = out.get(ValueLayout.JAVA_LONG, 0);
            List<TensorDescription> tensors = new ArrayList<>();
            for (long i = 0; i < count; i++) {
                tensors.add(one(inputs, i));
            }
            return List.copyOf(tensors);
        }

        private TensorDescription one(boolean input, long index) {
            MemorySegment api = engine.api();
            MemorySegment out = scratch.allocate(ValueLayout.ADDRESS);
            engine.check(
                    input
                            ? OrtApi.sessionGetInputName(api, session, index, engine.allocator(), out)
                            : OrtApi.sessionGetOutputName(api, session, index, engine.allocator(), out));
            String name = engine.take(out.get(ValueLayout.ADDRESS, 0));
            engine.check(
                    input
                            ? OrtApi.sessionGetInputTypeInfo(api, session, index, out)
                            : OrtApi.sessionGetOutputTypeInfo(api, session, index, out));
            MemorySegment typeInfo = out.get(ValueLayout.ADDRESS, 0);
            try {
                return tensor(name, input, typeInfo);
            } finally {
                OrtApi.releaseTypeInfo(api, typeInfo);
            }
        }

        private TensorDescription tensor(String name, boolean input, MemorySegment typeInfo) {
            MemorySegment api = engine.api();
            MemorySegment out = scratch.allocate(ValueLayout.ADDRESS);
            engine.check(OrtApi.castTypeInfoToTensorInfo(api, typeInfo, out));
            MemorySegment info = out.get(ValueLayout.ADDRESS, 0);
            if (info.address() == 0) {
                throw GatunException.invalidArgument((input ? "input" : "output") + " '" + name
                        + "' is a sequence, map or optional; only tensors can be served"
                        + (input ? "" : ZIP_MAP));
            }
            engine.check(OrtApi.getTensorElementType(api, info, out));
            int elementType = out.get(ValueLayout.JAVA_INT, 0);
            engine.check(OrtApi.getDimensionsCount(api, info, out));
            int rank = Math.toIntExact(out.get(ValueLayout.JAVA_LONG, 0));
            MemorySegment dims = scratch.allocate(ValueLayout.JAVA_LONG, Math.max(1, rank));
            engine.check(OrtApi.getDimensions(api, info, dims, rank));
            MemorySegment names = scratch.allocate(ValueLayout.ADDRESS, Math.max(1, rank));
            engine.check(OrtApi.getSymbolicDimensions(api, info, names, rank));
            long[] shape = new long[rank];
            List<String> symbols = new ArrayList<>();
            for (int i = 0; i < rank; i++) {
                long dim = dims.getAtIndex(ValueLayout.JAVA_LONG, i);
                shape[i] = dim < 0 ? Shape.VARIABLE : dim;
                // The names belong to the type info, which is released by our caller.
                symbols.add(dim < 0 ? NativeMemory.string(names.getAtIndex(ValueLayout.ADDRESS, i)) : "");
            }
            return new TensorDescription(
                    name, ElementTypes.datatype(elementType), Shape.of(shape), List.copyOf(symbols));
        }
    }

    /**
     * A tensor as the file describes it; {@code datatype} is INVALID for types that no protocol can carry. Open
     * dimensions are -1 in {@code shape}; {@code symbols} has their names, or empty texts: equal names are equal sizes.
     */
    record TensorDescription(String name, Datatype datatype, Shape shape, List<String> symbols) {
        /** The same without the names of its dimensions. */
        EntryTensor entryTensor() {
            return EntryTensor.of(new TensorSpec(name, datatype, shape));
        }
    }

    /** Tensors without dimensions in the file; clients see their configured ones, all 1. Immutable. */
    static final class ScalarTensors {
        private static final Shape SCALAR = Shape.of();

        private final boolean[] inputs;
        private final Shape[] outputs;

        ScalarTensors(ModelConfig config, ModelDescription model) {
            inputs = new boolean[model.inputs().size()];
            for (int i = 0; i < inputs.length; i++) {
                inputs[i] = model.inputs().get(i).shape().rank() == 0;
            }
            outputs = new Shape[model.outputs().size()];
            for (int i = 0; i < outputs.length; i++) {
                outputs[i] = configured(config, model.outputs().get(i).name());
            }
        }

        private static Shape configured(ModelConfig config, String name) {
            for (ModelOutput output : config.getOutputList()) {
                if (output.getName().equals(name)) {
                    List<Long> dims = output.hasReshape() ? output.getReshape().getShapeList() : output.getDimsList();
                    return Shape.of(dims.stream().mapToLong(Long::longValue).toArray());
                }
            }
            return SCALAR;
        }

        Shape taken(int index, Shape shape) {
            return inputs[index] ? SCALAR : shape;
        }

        Shape answered(int index, Shape shape) {
            return shape.rank() == 0 ? outputs[index] : shape;
        }
    }

    /**
     * Output shapes that are known before a run: each dimension is a number, or has the name of an input's. Where a file's
     * names lie, the run fails cleanly and the engine allocates. Used by one thread at a time.
     */
    static final class OutputShapes {
        /** Where an open dimension's size is found. */
        private record Source(int input, int dim) {}

        /** Where each output's dimensions come from; null in {@link #sources} means unknown beforehand. */
        private final Shape[] fixed;

        private final Source[][] sources;
        private final boolean[] known;

        /** The last shapes that were told, which are mostly right again. */
        private final @Nullable Shape[] last;

        OutputShapes(ModelDescription model) {
            Map<String, Source> symbols = new HashMap<>();
            for (int i = 0; i < model.inputs().size(); i++) {
                List<String> names = model.inputs().get(i).symbols();
                for (int d = 0; d < names.size(); d++) {
                    if (!names.get(d).isEmpty()) {
                        symbols.putIfAbsent(names.get(d), new Source(i, d));
                    }
                }
            }
            int count = model.outputs().size();
            fixed = new Shape[count];
            sources = new Source[count][];
            known = new boolean[count];
            last = new Shape[count];
            for (int o = 0; o < count; o++) {
                TensorDescription output = model.outputs().get(o);
                fixed[o] = output.shape();
                sources[o] = new Source[output.shape().rank()];
                known[o] = true;
                for (int d = 0; d < sources[o].length; d++) {
                    if (output.shape().dim(d) == Shape.VARIABLE) {
                        Source source = symbols.get(output.symbols().get(d));
                        sources[o][d] = source;
                        known[o] &= source != null;
                    }
                }
            }
        }

        /** Whether the shape of output {@code index} follows from the shapes of the inputs. */
        boolean isKnown(int index) {
            return known[index];
        }

        /** The shape of output {@code index}, which must be known, for inputs of these shapes in the model's order. */
        Shape shape(int index, Shape[] inputs) {
            if (fixed[index].isFixed()) {
                return fixed[index];
            }
            Shape before = last[index];
            if (before != null && isStill(before, index, inputs)) {
                return before;
            }
            long[] dims = new long[sources[index].length];
            for (int d = 0; d < dims.length; d++) {
                dims[d] = dim(index, d, inputs);
            }
            Shape shape = Shape.of(dims);
            last[index] = shape;
            return shape;
        }

        private boolean isStill(Shape shape, int index, Shape[] inputs) {
            for (int d = 0; d < shape.rank(); d++) {
                if (shape.dim(d) != dim(index, d, inputs)) {
                    return false;
                }
            }
            return true;
        }

        private long dim(int index, int d, Shape[] inputs) {
            Source source = sources[index][d];
            return source == null ? fixed[index].dim(d) : inputs[source.input()].dim(source.dim());
        }

        /** Takes back that output {@code index} is known: a run has shown that the file's names are not true. */
        void forget(int index) {
            known[index] = false;
        }
    }
}
