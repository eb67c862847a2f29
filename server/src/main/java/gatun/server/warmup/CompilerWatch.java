// SPDX-License-Identifier: Apache-2.0
package gatun.server.warmup;

import java.time.Duration;

/** Finds out from the time that compilers have taken whether they still have work. For one thread. */
final class CompilerWatch {
    /** Compilers below this share of a look's time count as idle. */
    private static final double IDLE = 0.05;

    /** Looks in a row that must find compilers idle: the time of a large method is known only at its end. */
    private static final int LOOKS = 3;

    private final long idleMillis;
    private long before;
    private int idleLooks;

    /** Compilers that are looked at again and again. */
    CompilerWatch(Duration look, long compiledMillis) {
        idleMillis = (long) (look.toMillis() * IDLE);
        before = compiledMillis;
    }

    boolean isIdle(long compiledMillis) {
        idleLooks = compiledMillis - before > idleMillis ? 0 : idleLooks + 1;
        before = compiledMillis;
        return idleLooks >= LOOKS;
    }
}
