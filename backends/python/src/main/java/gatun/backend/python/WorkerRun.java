// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import java.util.List;

/** A call of {@code execute}, as the worker's threads know it. */
interface WorkerRun {
    /** The requests that it is for. */
    List<? extends RunRequest> requests();

    /** Notes the number that the worker knows the first request by; the others' follow. */
    void number(long first);

    long firstNumber();

    /** Whether the thread that gives it to the worker reads what that says of it, at once. */
    boolean readsAnswer();

    /** Says what the worker has said. For any thread, one at a time. */
    void tell(RunEvent event);
}
