// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.runtime.tracing.RequestTrace;
import gatun.spi.ExecutionRequest;
import java.util.Optional;

/** What backends do not see of the requests that they run. */
public final class RunningRequests {
    private RunningRequests() {}

    /** The trace of a request that a backend was given; empty for one that is not traced. */
    public static Optional<RequestTrace> trace(ExecutionRequest request) {
        return request instanceof BackendRequest pending ? pending.request().trace() : Optional.empty();
    }
}
