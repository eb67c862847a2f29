// SPDX-License-Identifier: Apache-2.0
package gatun.bench.endpoint;

import gatun.bench.data.DataSet;
import gatun.bench.data.DataSet.Step;
import gatun.bench.data.ModelDescription;
import gatun.client.InferRequest;
import gatun.memory.tensor.Tensor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;

/** The parts of v2 requests. An empty {@code version} is the server's choice. Thread-safe. */
record RequestPlan(ModelDescription model, String version, DataSet data, boolean inSequences, AtomicLong sequences) {
    private static final String EMPTY_FINAL = "triton_enable_empty_final_response";

    static RequestPlan of(ModelDescription model, String version, DataSet data, boolean inSequences) {
        // Another run may have left sequences behind.
        long first = ThreadLocalRandom.current().nextLong(1, 1L << 62);
        return new RequestPlan(model, version, data, inSequences, new AtomicLong(first));
    }

    StepCursor cursor(int worker) {
        return new StepCursor(data, worker, sequences);
    }

    /** A request with the tensors of {@code step}, without anything about sequences. */
    InferRequest.Builder request(Step step) {
        InferRequest.Builder request = InferRequest.to(model.name()).version(version);
        for (Tensor input : step.inputs()) {
            request.input(input);
        }
        if (model.decoupled()) {
            request.parameter(EMPTY_FINAL, true);
        }
        return request;
    }
}
