// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.runtime.scheduling.InlineExecutor.InstanceOffers;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class InstanceOffersTest {
    private final InstanceOffers offers = new InstanceOffers();
    private final List<Integer> lent = new ArrayList<>();

    private void recall() {
        lent.clear();
        offers.recall(lent::add);
    }

    @Test
    void shouldGiveEachInstanceToOneAtATime() {
        assertThat(offers.take()).isEqualTo(Dispatcher.NONE);
        offers.offer(0);
        offers.offer(2);
        List<Integer> taken = List.of(offers.take(), offers.take());
        assertThat(taken).containsExactlyInAnyOrder(0, 2);
        assertThat(offers.take()).isEqualTo(Dispatcher.NONE);
        assertThat(offers.giveBack(2)).isTrue();
        assertThat(offers.take()).isEqualTo(2);
    }

    @Test
    void shouldGiveAThreadTheSameInstanceEachTime() {
        for (int i = 0; i < 8; i++) {
            offers.offer(i);
        }
        int first = offers.take();
        offers.giveBack(first);
        assertThat(offers.take()).isEqualTo(first);
    }

    @Test
    void shouldTellWhichAreLentWhenAllAreRecalled() {
        offers.offer(0);
        offers.offer(1);
        int taken = offers.take();

        recall();

        assertThat(lent).containsExactly(taken);
        assertThat(offers.take()).isEqualTo(Dispatcher.NONE);
        assertThat(offers.giveBack(taken)).as("without the lock").isFalse();
        recall();
        assertThat(lent).as("known already").isEmpty();
    }

    @Test
    void shouldTakeBackWithoutTheLockWhatIsReleased() {
        offers.release(0);
        assertThat(offers.take()).isEqualTo(Dispatcher.NONE);
        assertThat(offers.giveBack(0)).isTrue();
        assertThat(offers.take()).isZero();
    }

    @Test
    void shouldKeepTheRunsOfWhoeverHasAnInstance() {
        offers.offer(0);
        assertThat(offers.runs(0)).isZero();
        for (int i = 1; i < InstanceOffers.RUNS_TO_A_NOTE; i++) {
            assertThat(offers.take()).isZero();
            assertThat(offers.note(0, 10)).isFalse();
            assertThat(offers.giveBack(0)).isTrue();
        }
        assertThat(offers.take()).isZero();
        assertThat(offers.note(0, 10)).isTrue();

        assertThat(offers.runs(0)).isEqualTo(InstanceOffers.RUNS_TO_A_NOTE);
        assertThat(offers.takeNanos(0)).isEqualTo(10 * InstanceOffers.RUNS_TO_A_NOTE);
        assertThat(offers.runs(0)).isZero();
        assertThat(offers.takeNanos(0)).isZero();
    }

    @Test
    void shouldLeaveAnInstanceThatWasNeverOnOfferToTheLock() {
        assertThat(offers.isTaken(3)).isFalse();
        assertThat(offers.runs(3)).isZero();
        assertThat(offers.takeNanos(3)).isZero();
    }
}
