// SPDX-License-Identifier: Apache-2.0
package gatun.backend.tensorflow;

import gatun.bindings.tensorflow.TF_Output;
import gatun.memory.tensor.GatunException;
import gatun.spi.EntryPoint;
import gatun.spi.EntryTensor;
import gatun.spi.Execution;
import gatun.wire.tensorflow.TensorProto;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** What an entry point feeds and fetches in the graph, with defaults. Immutable; closed once. */
final class Function implements AutoCloseable {
    private final List<EntryTensor> inputs;
    private final List<EntryTensor> outputs;
    private final MemorySegment inputPlaces;
    private final MemorySegment outputPlaces;
    private final boolean keepsInputs;

    /** The tensor for each input that a request may leave out; NULL for the others. */
    private final MemorySegment[] defaults;

    /** The places, in {@code arena}. Throws INVALID_ARGUMENT when the graph lacks one, or a default is no tensor. */
    Function(
            Session session,
            EntryPoint entryPoint,
            Map<String, TensorProto> defaults,
            Operations operations,
            Arena arena) {
        inputs = entryPoint.inputs();
        outputs = entryPoint.outputs();
        inputPlaces = places(session, inputs, arena);
        outputPlaces = places(session, outputs, arena);
        keepsInputs = operations.mayKeepInputs(outputs.stream()
                .map(output -> TensorName.operation(output.engineName()))
                .toList());
        this.defaults = new MemorySegment[inputs.size()];
        Arrays.fill(this.defaults, MemorySegment.NULL);
        try {
            for (int i = 0; i < this.defaults.length; i++) {
                TensorProto value = defaults.get(inputs.get(i).spec().name());
                if (value != null) {
                    this.defaults[i] = Tensors.of(value, inputs.get(i).spec());
                }
            }
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    private static MemorySegment places(Session session, List<EntryTensor> tensors, Arena arena) {
        MemorySegment places = TF_Output.allocateArray(Math.max(1, tensors.size()), arena);
        for (int i = 0; i < tensors.size(); i++) {
            String name = tensors.get(i).engineName();
            MemorySegment place = TF_Output.asSlice(places, i);
            TF_Output.oper(place, session.operation(TensorName.operation(name)));
            TF_Output.index(place, TensorName.index(name));
        }
        return places;
    }

    int inputCount() {
        return inputs.size();
    }

    int outputCount() {
        return outputs.size();
    }

    /** Whether a tensor that it is given may be in use after the run. */
    boolean keepsInputs() {
        return keepsInputs;
    }

    void feed(String name, int position, MemorySegment places) {
        copy(inputPlaces, index(inputs, name, position), places, position);
    }

    /** Adds the defaults, kept by this, of inputs that the {@code count} of a request lack; returns the total. */
    int feedDefaults(Execution execution, int count, MemorySegment places, MemorySegment tensors) {
        int total = count;
        for (int i = 0; i < defaults.length; i++) {
            if (defaults[i].address() != 0
                    && !brings(execution, count, inputs.get(i).spec().name())) {
                copy(inputPlaces, i, places, total);
                tensors.setAtIndex(ValueLayout.ADDRESS, total++, defaults[i]);
            }
        }
        return total;
    }

    private static boolean brings(Execution execution, int count, String name) {
        for (int i = 0; i < count; i++) {
            if (execution.input(i).spec().name().equals(name)) {
                return true;
            }
        }
        return false;
    }

    void fetch(String name, int position, MemorySegment places) {
        copy(outputPlaces, index(outputs, name, position), places, position);
    }

    private static void copy(MemorySegment from, int index, MemorySegment to, int position) {
        long byteSize = TF_Output.sizeof();
        MemorySegment.copy(from, index * byteSize, to, position * byteSize, byteSize);
    }

    /** Tries the position first, where it nearly always is. */
    private static int index(List<EntryTensor> tensors, String name, int position) {
        if (position < tensors.size() && tensors.get(position).spec().name().equals(name)) {
            return position;
        }
        for (int i = 0; i < tensors.size(); i++) {
            if (tensors.get(i).spec().name().equals(name)) {
                return i;
            }
        }
        throw GatunException.invalidArgument("the model's signature has no tensor '" + name + "'");
    }

    @Override
    public void close() {
        for (int i = 0; i < defaults.length; i++) {
            if (defaults[i].address() != 0) {
                Tensors.delete(defaults[i]);
                defaults[i] = MemorySegment.NULL;
            }
        }
    }
}
