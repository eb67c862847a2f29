// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Tensor;
import gatun.spi.ExecutionRequest;
import java.util.List;
import java.util.Optional;

/** A request of a run, as a Python model sees it. For the thread of the run. */
interface RunRequest {
    /** What is known beside its tensors; empty for a run that is for nobody. */
    Optional<ExecutionRequest> request();

    /** Its inputs; valid until the run ends. */
    List<Tensor> inputs();

    List<String> wantedOutputs();

    /** Takes a response and its blocks, and sends it if {@code more} may follow. Throws when it cannot be taken. */
    void take(WorkerResponse response, boolean more);

    /** Takes a failure as a response. Throws it where the request ends by it, or another when nobody wants it. */
    void takeFailure(GatunException reason);

    void fail(GatunException reason);

    void runAgain();

    /** A call of {@code execute}, as the worker's threads know it. */
    interface WorkerRun {
        List<? extends RunRequest> requests();

        /** Notes the number that the worker knows the first request by; the others' follow. */
        void number(long first);

        long firstNumber();

        /** Whether the thread that gives it to the worker reads what that says of it, at once. */
        boolean readsAnswer();

        /** Says what the worker has said. For any thread, one at a time. */
        void tell(RunEvent event);
    }
}
