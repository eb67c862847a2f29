// SPDX-License-Identifier: Apache-2.0
package gatun.bench.endpoint;

import gatun.bench.data.DataSet.Step;
import gatun.client.InferRequest;

/** Requests whose tensors are sent with them. Each is built once, except those of sequences. */
final class SentRequests implements RequestSource {
    private final RequestPlan plan;
    private final InferRequest[] prepared;

    SentRequests(RequestPlan plan) {
        this.plan = plan;
        prepared = new InferRequest[plan.inSequences() ? 0 : plan.data().size()];
    }

    @Override
    public InferRequest prepare(int index, StepCursor cursor) {
        Step step = cursor.step();
        if (plan.inSequences()) {
            return plan.request(step)
                    .sequence(cursor.sequence(), step.start(), step.end())
                    .build();
        }
        if (prepared[index] == null) {
            prepared[index] = plan.request(step).build();
        }
        return prepared[index];
    }

    @Override
    public long sharedOutputByteSize() {
        return 0;
    }

    @Override
    public void close() {}
}
