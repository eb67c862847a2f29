// SPDX-License-Identifier: Apache-2.0
package gatun.console.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ViewersTest {
    private final AtomicLong nanos = new AtomicLong(3);
    private final AtomicInteger woken = new AtomicInteger();
    private final Viewers viewers = new Viewers(nanos::get, woken::incrementAndGet);

    private List<Viewers.Viewer> enter(int count, String network) {
        List<Viewers.Viewer> entered = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            nanos.incrementAndGet();
            entered.add(viewers.enter(network));
        }
        return entered;
    }

    /** The places in {@code all} of those that gave way. */
    private static List<Integer> replaced(List<Viewers.Viewer> all) {
        List<Integer> places = new ArrayList<>();
        for (int i = 0; i < all.size(); i++) {
            if (all.get(i).isReplaced()) {
                places.add(i);
            }
        }
        return places;
    }

    @Test
    void shouldReplaceTheFirstOfANetworkThatHasAllPlaces() {
        List<Viewers.Viewer> greedy = enter(Viewers.LIMIT, "a");
        assertThat(replaced(greedy)).isEmpty();

        Viewers.Viewer operator = viewers.enter("b");

        assertThat(operator.isReplaced()).isFalse();
        assertThat(replaced(greedy)).containsExactly(0);
        assertThat(viewers.count()).isEqualTo(Viewers.LIMIT);
        assertThat(woken).hasValue(1);
    }

    @Test
    void shouldReplaceOneThatReadsNothingBeforeThoseThatRead() {
        List<Viewers.Viewer> all = enter(Viewers.LIMIT, "a");
        nanos.addAndGet(Duration.ofMinutes(1).toNanos());
        all.stream().filter(viewer -> all.indexOf(viewer) != 7).forEach(Viewers.Viewer::sent);

        viewers.enter("b");

        assertThat(replaced(all)).containsExactly(7);
        assertThat(Thread.interrupted()).as("it waits for its client").isTrue();
    }

    @Test
    void shouldLeaveTheOnlyViewerOfANetworkItsPlace() {
        List<Viewers.Viewer> operator = enter(1, "b");
        List<Viewers.Viewer> greedy = enter(Viewers.LIMIT - 1, "a");

        enter(1000, "a");

        assertThat(replaced(operator)).isEmpty();
        assertThat(replaced(greedy)).hasSize(Viewers.LIMIT - 1);
        assertThat(viewers.count()).isEqualTo(Viewers.LIMIT);
    }

    @Test
    void shouldReplaceOneOfItsOwnWhereNobodyHasMore() {
        List<Viewers.Viewer> others = enter(Viewers.LIMIT / 2, "a");
        List<Viewers.Viewer> own = enter(Viewers.LIMIT / 2, "b");

        viewers.enter("b");

        assertThat(replaced(others)).isEmpty();
        assertThat(replaced(own)).containsExactly(0);
    }

    @Test
    void shouldCountThoseWhoLeaveNoMore() {
        List<Viewers.Viewer> all = enter(Viewers.LIMIT, "a");
        viewers.enter("b");
        all.forEach(Viewers.Viewer::close); // one of them has given way already

        assertThat(viewers.count()).isEqualTo(1);
    }
}
