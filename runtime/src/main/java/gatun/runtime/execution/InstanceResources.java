// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.buffers.BufferPool;
import gatun.runtime.statistics.ModelCounters;
import gatun.spi.BackendModel;
import org.jspecify.annotations.Nullable;

/**
 * The objects that all instances of a model version share.
 *
 * @param model makes their backends
 * @param signature the version's inputs and outputs
 * @param sequences what the model has to do with sequences; null for nothing
 * @param pool gives their runs memory
 * @param warmUp what each answers before it serves
 * @param counters count what they do
 */
record InstanceResources(
        BackendModel model,
        ModelSignature signature,
        @Nullable SequenceModel sequences,
        BufferPool pool,
        WarmUp warmUp,
        ModelCounters counters) {}
