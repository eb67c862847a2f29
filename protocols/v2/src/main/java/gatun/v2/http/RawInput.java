// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.ModelVersion;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;

/** A body without JSON: all of it is the only input of a model, whose datatype and shape come from the model. */
final class RawInput {
    private RawInput() {}

    /** Where in its buffer such a body begins: after the length of a string that the client leaves out. */
    static int landingOffset(ModelVersion model) {
        List<TensorSpec> inputs = model.inputs();
        return inputs.size() == 1 && inputs.getFirst().datatype() == Datatype.BYTES ? BytesCodec.LENGTH_BYTES : 0;
    }

    /**
     * Adds the input that {@code body} is; the request holds its buffer.
     *
     * @throws GatunException INVALID_ARGUMENT when the model does not tell the shape
     */
    static void add(InferenceRequest request, InferBodies.Body body) {
        ModelVersion model = request.model();
        List<TensorSpec> inputs = model.inputs();
        if (inputs.size() != 1) {
            throw GatunException.invalidArgument("Raw request must only have 1 input (found 1) to be deduced but got "
                    + inputs.size() + " inputs in '" + model.name() + "' model configuration");
        }
        TensorSpec input = inputs.getFirst();
        boolean batching = model.config().getMaxBatchSize() > 0;
        if (input.datatype() == Datatype.BYTES) {
            addString(request, body, input, batching);
            return;
        }
        MemorySegment bytes = body.segment().asSlice(body.binaryOffset(), body.binaryByteSize());
        Shape shape = shape(input, batching, bytes.byteSize());
        request.addInput(new Tensor(new TensorSpec(input.name(), input.datatype(), shape), bytes));
    }

    private static void addString(InferenceRequest request, InferBodies.Body body, TensorSpec input, boolean batching) {
        long[] dims = input.shape().toArray();
        if (batching) {
            dims[0] = 1;
        }
        if (Arrays.stream(dims).anyMatch(dim -> dim != 1)) {
            throw GatunException.invalidArgument(
                    "For BYTE datatype raw input '" + input.name() + "', the model must have input shape [1]");
        }
        BytesCodec.putLength(body.segment(), 0, body.binaryByteSize());
        Shape shape = Shape.of(dims);
        MemorySegment bytes = body.segment().asSlice(0, body.binaryOffset() + body.binaryByteSize());
        request.addInput(new Tensor(new TensorSpec(input.name(), Datatype.BYTES, shape), bytes));
    }

    private static Shape shape(TensorSpec input, boolean batching, long byteSize) {
        long[] dims = input.shape().toArray();
        if (batching) {
            dims[0] = 1;
        }
        int variable = -1;
        long known = 1;
        for (int i = 0; i < dims.length; i++) {
            if (dims[i] != Shape.VARIABLE) {
                known *= dims[i];
            } else if (variable < 0) {
                variable = i;
            } else {
                throw GatunException.invalidArgument("The shape of the raw input '" + input.name()
                        + "' can not be deduced because there are more than one variable-sized dimension");
            }
        }
        if (variable >= 0) {
            long unit = known * input.datatype().byteSize();
            // A body that does not divide evenly gets a shape of another size, for which it is refused later.
            dims[variable] = unit == 0 ? 0 : byteSize / unit;
        }
        return Shape.of(dims);
    }
}
