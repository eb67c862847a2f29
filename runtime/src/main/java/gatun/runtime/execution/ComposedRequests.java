// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.ModelVersion;
import gatun.spi.EntryPoint;
import gatun.wire.inference.ModelConfig;
import java.util.List;
import java.util.Map;

/** Checks requests to a model that no instance answers, such as an ensemble, as an instance would. Thread-safe. */
public final class ComposedRequests {
    private final ModelSignature signature;
    private final RequestCheck check;
    private final BufferPool pool;

    /** For a configuration; {@code labels} are classes by output name, {@code pool} for outputs to be copied. */
    public ComposedRequests(ModelConfig config, Map<String, List<String>> labels, BufferPool pool) {
        this(new ModelSignature(config, labels), pool);
    }

    private ComposedRequests(ModelSignature signature, BufferPool pool) {
        this.signature = signature;
        check = new RequestCheck(signature);
        this.pool = pool;
    }

    /** For requests to the first entry point of {@code model}; else as the constructor. */
    public static ComposedRequests of(ModelVersion model, Map<String, List<String>> labels, BufferPool pool) {
        EntryPoint first = model.entryPoints().firstEntry().getValue();
        return new ComposedRequests(
                new ModelSignature(model.config(), labels, first, null, ClientMemory.UNKNOWN), pool);
    }

    /** A response without outputs. The caller still owns the request. Throws INVALID_ARGUMENT when it is wrong. */
    public ComposedResponse answer(InferenceRequest request, long arrivedNanos) {
        return new ComposedResponse(check.pending(request, arrivedNanos), signature, pool);
    }

    /** The inputs as clients shape them, the batch dimension included. */
    public List<TensorSpec> inputs() {
        return signature.inputSpecs();
    }

    /** The outputs as clients get them, the batch dimension included. */
    public List<TensorSpec> outputs() {
        return signature.outputSpecs();
    }

    /** The names of an output's classes, by index; empty where there are none. */
    public List<String> labels(String output) {
        return signature.labels(output);
    }
}
