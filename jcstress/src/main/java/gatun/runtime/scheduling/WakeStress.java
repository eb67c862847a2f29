// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import java.time.Duration;
import java.util.List;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Mode;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.Signal;
import org.openjdk.jcstress.annotations.State;

/** An instance's thread falls asleep while it is woken: it does not sleep on. */
@JCStressTest(Mode.Termination)
@Outcome(id = "TERMINATED", expect = Expect.ACCEPTABLE, desc = "it is awake")
@Outcome(expect = Expect.FORBIDDEN, desc = "it sleeps for ever")
@State
public class WakeStress {
    /** A worker that is never run. */
    private static final class Idle implements Worker<Ticket> {
        @Override
        public String threadName() {
            return "idle";
        }

        @Override
        public void open() {}

        @Override
        public boolean isBoundToThread() {
            return true;
        }

        @Override
        public long run(List<Ticket> batch) {
            return 0;
        }

        @Override
        public void close() {}
    }

    private final InstanceThread<Ticket> thread =
            new InstanceThread<>(0, new Idle(), own -> own.sleep(Dispatcher.FOREVER), failure -> {});

    /** The instance's thread, from its start to its end. */
    @Actor
    public void sleep() {
        thread.start();
        thread.awaitOpen();
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
