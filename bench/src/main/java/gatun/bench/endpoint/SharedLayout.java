// SPDX-License-Identifier: Apache-2.0
package gatun.bench.endpoint;

import gatun.bench.data.Step;
import gatun.client.GatunClient;
import gatun.client.InferResponse;
import gatun.client.SharedTensors;
import gatun.client.SharedTensorsBuilder;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The room that tensors need in shared memory.
 *
 * @param placement the kind of memory
 * @param inputs the specs of the inputs
 * @param inputBytes the most bytes of each input
 * @param outputBytes the most bytes of each output
 */
record SharedLayout(
        LoadTransport.Placement placement,
        List<TensorSpec> inputs,
        Map<String, Long> inputBytes,
        Map<String, Long> outputBytes) {
    private static final int FIRST_GPU = 0;

    /**
     * The room for all of a plan's data. Where the model leaves the size of an output open, each request is made once
     * to learn it.
     *
     * @throws TargetException when requests have different shapes
     */
    static SharedLayout of(GatunClient client, LoadTransport.Placement placement, RequestPlan plan) {
        List<TensorSpec> inputs =
                plan.data().step(0).inputs().stream().map(Tensor::spec).toList();
        Map<String, Long> inputBytes = new LinkedHashMap<>();
        for (int i = 0; i < plan.data().size(); i++) {
            Step step = plan.data().step(i);
            if (!step.inputs().stream().map(Tensor::spec).toList().equals(inputs)) {
                throw new TargetException("the requests of the data have inputs of different shapes:"
                        + " shared memory is laid out once, for requests of the same shapes");
            }
            for (Tensor input : step.inputs()) {
                inputBytes.merge(input.spec().name(), input.byteSize(), Math::max);
            }
        }
        return new SharedLayout(placement, inputs, inputBytes, outputBytes(client, plan));
    }

    /** Allocates this memory and registers it. The caller closes the result. */
    SharedRequests open(GatunClient client, RequestPlan plan) {
        String model = plan.model().name();
        SharedTensorsBuilder builder =
                switch (placement) {
                    case SENT -> throw new IllegalStateException("tensors that are sent have no layout");
                    case POSIX -> SharedTensors.posix(client, model);
                    case SEALED -> SharedTensors.sealed(client, model);
                    case CUDA -> SharedTensors.cuda(client, model, FIRST_GPU);
                };
        builder.version(plan.version());
        for (TensorSpec input : inputs) {
            long[] dims = input.shape().toArray();
            if (input.datatype() == Datatype.BYTES) {
                builder.inputBytes(input.name(), inputBytes.getOrDefault(input.name(), 0L), dims);
            } else {
                builder.input(input.name(), input.datatype(), dims);
            }
        }
        outputBytes.forEach(builder::outputBytes);
        long outputs = outputBytes.values().stream().mapToLong(Long::longValue).sum();
        try {
            return new SharedRequests(builder.open(), plan, outputs);
        } catch (IllegalArgumentException e) {
            throw new TargetException("tensors of model '" + model + "' in shared memory: " + e.getMessage(), e);
        }
    }

    private static Map<String, Long> outputBytes(GatunClient client, RequestPlan plan) {
        Map<String, Long> known = new LinkedHashMap<>();
        boolean all = true;
        for (TensorSpec output : plan.model().outputs()) {
            Shape shape = output.shape();
            if (plan.model().batched() && shape.rank() > 0 && shape.dim(0) == Shape.VARIABLE) {
                shape = shape.withFirst(
                        plan.data().step(0).inputs().getFirst().spec().shape().dim(0));
            }
            long byteSize = shape.byteSize(output.datatype());
            all &= byteSize >= 0;
            known.put(output.name(), Math.max(byteSize, 1));
        }
        if (all) {
            return known;
        }
        if (plan.inSequences()) {
            throw new TargetException("model '" + plan.model().name()
                    + "' has outputs of unknown size, which shared memory has no room for in sequences:"
                    + " leave shared memory away");
        }
        Map<String, Long> asked = new LinkedHashMap<>();
        for (int i = 0; i < plan.data().size(); i++) {
            try (InferResponse response =
                    client.infer(plan.request(plan.data().step(i)).build())) {
                for (Tensor output : response.outputs()) {
                    asked.merge(output.spec().name(), Math.max(1, output.byteSize()), Math::max);
                }
            }
        }
        return asked;
    }
}
