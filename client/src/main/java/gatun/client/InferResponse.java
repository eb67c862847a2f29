// SPDX-License-Identifier: Apache-2.0
package gatun.client;

import gatun.memory.tensor.Hold;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import java.util.List;
import java.util.Map;

/**
 * A response. Owns the memory that its tensors lie in: close it after the last look at them. An output in a region is
 * not copied here. Safe for any thread, but for {@link #close}, which comes last.
 */
public final class InferResponse implements AutoCloseable {
    private static final Hold NO_MEMORY = () -> {};
    private static final int SHOWN_OUTPUTS = 8;

    private final String model;
    private final String version;
    private final String id;
    private final List<Tensor> outputs;
    private final List<TensorSpec> inRegions;
    private final Map<String, Object> parameters;
    private final Hold memory;
    private volatile boolean closed;

    /**
     * A response as a transport read it.
     *
     * @param outputs the outputs that were sent
     * @param inRegions the outputs that the server wrote to regions
     * @param parameters of the response: {@link Boolean}, {@link Long}, {@link Double} or {@link String}
     * @param memory holds {@code outputs}; closed once
     */
    public InferResponse(
            String model,
            String version,
            String id,
            List<Tensor> outputs,
            List<TensorSpec> inRegions,
            Map<String, Object> parameters,
            Hold memory) {
        this.model = model;
        this.version = version;
        this.id = id;
        this.outputs = outputs;
        this.inRegions = inRegions;
        this.parameters = parameters;
        this.memory = memory;
    }

    /**
     * A response all outputs of which the server wrote to regions. Immutable, and needs no closing.
     *
     * @param parameters as above
     */
    public static InferResponse inRegions(
            String model, String version, String id, List<TensorSpec> outputs, Map<String, Object> parameters) {
        return new InferResponse(model, version, id, List.of(), outputs, parameters, NO_MEMORY);
    }

    /** The model that answered. */
    public String model() {
        return model;
    }

    /** The version that answered. */
    public String version() {
        return version;
    }

    /** The request's id; empty when it had none. */
    public String id() {
        return id;
    }

    /** The tensors that came with the response, in its order. Their memory is valid until {@link #close}. */
    public List<Tensor> outputs() {
        requireOpen();
        return outputs;
    }

    /** Names, datatypes and shapes of the outputs that the server wrote to regions. */
    public List<TensorSpec> inRegions() {
        return inRegions;
    }

    /** Parameters of the response; mostly empty. */
    public Map<String, Object> parameters() {
        return parameters;
    }

    /**
     * The tensor of that name. Its memory is valid until {@link #close}.
     *
     * @throws IllegalArgumentException when the response has none, or has it in a region
     */
    public Tensor output(String name) {
        requireOpen();
        for (int i = 0; i < outputs.size(); i++) {
            if (outputs.get(i).spec().name().equals(name)) {
                return outputs.get(i);
            }
        }
        for (TensorSpec spec : inRegions) {
            if (spec.name().equals(name)) {
                throw new IllegalArgumentException(
                        "output '" + name + "' of model '" + model + "' was written to a region: read it there");
            }
        }
        throw new IllegalArgumentException("the answer of model '" + model + "' has no output '" + name + "': it has "
                + outputs.stream().map(output -> output.spec().name()).toList());
    }

    /** A copy of an FP32 output, or the values of an FP16 or BF16 one. */
    public float[] floats(String output) {
        return ArrayTensors.floats(output(output));
    }

    /** A copy of an FP64 output. */
    public double[] doubles(String output) {
        return ArrayTensors.doubles(output(output));
    }

    /** A copy of an INT32 or UINT32 output. */
    public int[] ints(String output) {
        return ArrayTensors.ints(output(output));
    }

    /** A copy of an INT64 or UINT64 output. */
    public long[] longs(String output) {
        return ArrayTensors.longs(output(output));
    }

    /** A copy of an INT16, UINT16, FP16 or BF16 output. */
    public short[] shorts(String output) {
        return ArrayTensors.shorts(output(output));
    }

    /** A copy of any output's bytes. */
    public byte[] bytes(String output) {
        return ArrayTensors.bytes(output(output));
    }

    /** A copy of a BOOL output. */
    public boolean[] booleans(String output) {
        return ArrayTensors.booleans(output(output));
    }

    /** A BYTES output as texts. */
    public List<String> strings(String output) {
        return ArrayTensors.strings(output(output));
    }

    /** Frees the memory; the tensors must not be used any more. Idempotent. */
    @Override
    @SuppressWarnings("ReferenceEquality") // NO_MEMORY is a mark
    public void close() {
        if (!closed && memory != NO_MEMORY) {
            closed = true;
            memory.close();
        }
    }

    /** The model, and the first outputs with their first elements; after {@link #close} no elements. */
    @Override
    public String toString() {
        StringBuilder text =
                new StringBuilder("answer of model '").append(model).append('\'');
        if (!version.isEmpty()) {
            text.append(" version ").append(version);
        }
        if (!id.isEmpty()) {
            text.append(" to request '").append(id).append('\'');
        }
        if (closed) {
            return text.append(", closed").toString();
        }
        append(text, "", outputs);
        append(text, "in regions: ", inRegions);
        return text.toString();
    }

    private static void append(StringBuilder text, String title, List<?> tensors) {
        for (int i = 0; i < tensors.size(); i++) {
            text.append(i == 0 ? "\n    " + title : "\n    ");
            if (i == SHOWN_OUTPUTS) {
                text.append("and ").append(tensors.size() - i).append(" more");
                return;
            }
            text.append(tensors.get(i));
        }
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException("the answer of model '" + model
                    + "' was closed, and its memory may hold another one: read outputs before closing it");
        }
    }
}
