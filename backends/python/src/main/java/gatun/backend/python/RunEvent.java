// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import gatun.memory.tensor.GatunException;
import java.util.List;
import java.util.Optional;

/** What a worker says of a run. */
sealed interface RunEvent {
    /** {@code execute} has returned, with what it says of each request. */
    record Returned(List<Outcome> outcomes) implements RunEvent {}

    /** {@code execute} has failed, or the process has ended: there will be nothing more of any request. */
    record Failed(GatunException reason) implements RunEvent {}

    /** A response sender has sent something; {@code last} when no more follow for that request. */
    record Sent(int request, boolean last, Optional<WorkerResponse> response) implements RunEvent {
        static Sent nothing() {
            return new Sent(0, false, Optional.empty());
        }
    }

    /** What {@code execute} returned for a request. */
    sealed interface Outcome {
        /** A response. */
        record Answered(WorkerResponse response) implements Outcome {}

        /** Nothing: a response sender answers. */
        record Later() implements Outcome {}

        /** The request is to run once more. */
        record Again() implements Outcome {}
    }
}
