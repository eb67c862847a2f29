// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import java.time.Duration;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Mode;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.Signal;
import org.openjdk.jcstress.annotations.State;

/** An instance's thread ends for want of work while it is woken: another comes in its place. */
@JCStressTest(Mode.Termination)
@Outcome(id = "TERMINATED", expect = Expect.ACCEPTABLE, desc = "the work is found")
@Outcome(expect = Expect.FORBIDDEN, desc = "the work waits for ever")
@State
public class RestStress {
    private final InstanceThread<PendingRequest> thread =
            new InstanceThread<>(0, new IdleRunner(false), own -> true, failure -> {}, Duration.ZERO);

    /** The instance, from its start to its end. */
    @Actor
    public void sleep() {
        thread.start();
        thread.awaitOpen(thread::abortOpening);
        while (!thread.join(Duration.ofMillis(1))) {
            Thread.onSpinWait();
        }
    }

    /** Whoever has work for it. */
    @Signal
    public void wake() {
        thread.wake();
    }
}
