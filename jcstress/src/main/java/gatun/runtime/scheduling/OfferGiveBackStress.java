// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import gatun.runtime.scheduling.InlineExecutor.InstanceOffers;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * A request thread gives its instance back while another, which has the lock, queues a request and recalls all
 * instances: one of them sees to the request.
 */
@JCStressTest
@Outcome(id = "1, 0", expect = Expect.ACCEPTABLE, desc = "it was idle again before the request came")
@Outcome(id = "0, 1", expect = Expect.ACCEPTABLE, desc = "it is given back under the lock, and the request is seen")
@Outcome(id = "1, 1", expect = Expect.FORBIDDEN, desc = "the request is left lying")
@Outcome(id = "0, 0", expect = Expect.FORBIDDEN, desc = "it is idle, and given back once more")
@State
public class OfferGiveBackStress {
    private final InstanceOffers offers = new InstanceOffers();
    private int lent;

    public OfferGiveBackStress() {
        offers.release(0);
    }

    /** The request thread whose run is over. */
    @Actor
    public void giveBack(II_Result result) {
        result.r1 = offers.giveBack(0) ? 1 : 0;
    }

    /** The one that has queued a request. */
    @Actor
    public void recall(II_Result result) {
        offers.recall(instance -> lent++);
        result.r2 = lent;
    }
}
