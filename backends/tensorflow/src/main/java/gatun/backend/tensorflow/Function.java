// SPDX-License-Identifier: Apache-2.0
package gatun.backend.tensorflow;

import gatun.bindings.tensorflow.TF_Output;
import gatun.memory.tensor.GatunException;
import gatun.spi.EntryPoint;
import gatun.spi.EntryTensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** The places in the graph that a run of an entry point feeds and fetches. Immutable. */
final class Function {
    private final List<EntryTensor> inputs;
    private final List<EntryTensor> outputs;
    private final MemorySegment inputPlaces;
    private final MemorySegment outputPlaces;
    private final boolean keepsInputs;

    /** @param arena holds the places; open for as long as this is used */
    Function(Session session, EntryPoint entryPoint, Operations operations, Arena arena) {
        inputs = entryPoint.inputs();
        outputs = entryPoint.outputs();
        inputPlaces = places(session, inputs, arena);
        outputPlaces = places(session, outputs, arena);
        keepsInputs = operations.mayKeepInputs(outputs.stream()
                .map(output -> TensorName.operation(output.engineName()))
                .toList());
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

    /** Writes where the input of this name is fed as element {@code position} of {@code places}. */
    void feed(String name, int position, MemorySegment places) {
        copy(inputPlaces, index(inputs, name, position), places, position);
    }

    /** Writes where the output of this name is fetched as element {@code position} of {@code places}. */
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
}
