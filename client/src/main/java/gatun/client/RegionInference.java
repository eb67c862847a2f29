// SPDX-License-Identifier: Apache-2.0
package gatun.client;

import gatun.memory.tensor.TensorSpec;
import java.util.List;
import java.util.function.Consumer;

/** Inferences whose tensors lie in one region, which a restarted server is told of again. Not thread-safe. */
final class RegionInference {
    private final GatunClient client;
    private final String model;
    private final RegisteredRegion region;
    private final TensorSlot[] inputs;
    private final TensorSlot[] outputs;
    private final Consumer<InferRequest.Builder> more;

    /** Inferences of {@code model}. {@code more} is added to each request. */
    RegionInference(
            GatunClient client,
            String model,
            RegisteredRegion region,
            TensorSlot[] inputs,
            TensorSlot[] outputs,
            Consumer<InferRequest.Builder> more) {
        this.client = client;
        this.model = model;
        this.region = region;
        this.inputs = inputs;
        this.outputs = outputs;
        this.more = more;
    }

    InferRequest request(Consumer<InferRequest.Builder> alsoSaid) {
        InferRequest.Builder builder = InferRequest.to(model);
        for (TensorSlot slot : inputs) {
            builder.inputInRegion(
                    slot.name(), slot.spec.datatype(), slot.spec.shape(), region.name(), slot.offset, slot.usedBytes);
        }
        for (TensorSlot slot : outputs) {
            builder.outputInRegion(slot.name(), region.name(), slot.offset, slot.byteSize);
        }
        more.accept(builder);
        alsoSaid.accept(builder);
        return builder.build();
    }

    /** Sends a request, and notes how the outputs were written. Throws {@link ClientException} when it fails. */
    void exchange(InferRequest sent) {
        try {
            accept(client.infer(sent));
        } catch (ServerException e) {
            if (!region.isUnknown(e)) {
                throw e;
            }
            try {
                region.registerAgain();
            } catch (ClientException again) {
                e.addSuppressed(again);
                throw e;
            }
            accept(client.infer(sent));
        }
    }

    private void accept(InferResponse response) {
        try (response) {
            List<TensorSpec> written = response.inRegions();
            for (TensorSlot slot : outputs) {
                slot.answer(written, model);
            }
        }
    }
}
