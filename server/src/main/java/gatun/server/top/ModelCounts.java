// SPDX-License-Identifier: Apache-2.0
package gatun.server.top;

import gatun.wire.inference.InferStatistics;
import gatun.wire.inference.ModelStatistics;

/** Counts of one version since it was loaded: durations are sums in nanoseconds, {@code inferences} are items. */
record ModelCounts(
        long requests,
        long requestNanos,
        long failures,
        long queueNanos,
        long inputNanos,
        long inferNanos,
        long outputNanos,
        long inferences,
        long executions) {
    static final ModelCounts NONE = new ModelCounts(0, 0, 0, 0, 0, 0, 0, 0, 0);

    static ModelCounts of(ModelStatistics model) {
        InferStatistics stages = model.getInferenceStats();
        return new ModelCounts(
                stages.getSuccess().getCount(),
                stages.getSuccess().getNs(),
                stages.getFail().getCount(),
                stages.getQueue().getNs(),
                stages.getComputeInput().getNs(),
                stages.getComputeInfer().getNs(),
                stages.getComputeOutput().getNs(),
                model.getInferenceCount(),
                model.getExecutionCount());
    }

    /** What was counted since {@code earlier}; all of it where that was of another load. */
    ModelCounts since(ModelCounts earlier) {
        if (requests < earlier.requests || failures < earlier.failures || executions < earlier.executions) {
            return this;
        }
        return new ModelCounts(
                requests - earlier.requests,
                requestNanos - earlier.requestNanos,
                failures - earlier.failures,
                queueNanos - earlier.queueNanos,
                inputNanos - earlier.inputNanos,
                inferNanos - earlier.inferNanos,
                outputNanos - earlier.outputNanos,
                inferences - earlier.inferences,
                executions - earlier.executions);
    }
}
