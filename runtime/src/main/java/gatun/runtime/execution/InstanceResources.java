// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.buffers.BufferPool;
import gatun.runtime.placement.ModelTuning;
import gatun.runtime.statistics.ModelCounters;
import gatun.spi.BackendModel;
import org.jspecify.annotations.Nullable;

/**
 * The objects that all instances of a model version share.
 *
 * @param model makes their backends
 * @param signature the version's inputs and outputs
 * @param sequences how the model handles sequences; null when it has none
 * @param pool gives their runs memory
 * @param warmUp the requests that each answers before it serves
 * @param counters count what they do
 * @param progress is told how far the first of them are
 * @param failedSenders those whose requests run alone for a while
 * @param trial finds out whether requests may share runs
 * @param tuning learns from the runs of all
 */
record InstanceResources(
        BackendModel model,
        ModelSignature signature,
        @Nullable SequenceModel sequences,
        BufferPool pool,
        WarmUp warmUp,
        ModelCounters counters,
        LoadWatch progress,
        FailedSenders failedSenders,
        BatchingTrial trial,
        ModelTuning tuning) {
    /** Whether the requests of a run keep their own tensors. */
    boolean runsApart() {
        BatchTensors tensors = signature.batchTensors();
        return model.takesRequestsApart() && (tensors == null || !tensors.joinsRequests());
    }
}
