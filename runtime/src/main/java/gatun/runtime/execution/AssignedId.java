// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.runtime.scheduling.SequenceStep;
import gatun.spi.CorrelationId;

/** The number, from 1, that the server gave to a sequence without one; never equal to a client's own. */
record AssignedId(long value) {
    static CorrelationId of(SequenceStep step) {
        return step.id() instanceof AssignedId assigned
                ? new CorrelationId.Uint64(assigned.value())
                : (CorrelationId) step.id();
    }
}
