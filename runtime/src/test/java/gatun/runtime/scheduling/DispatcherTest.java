package gatun.runtime.scheduling;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class DispatcherTest {
    private static final class Job extends Ticket {}

    @Test
    void shouldNotCountATicketAsWaitingForWhichAnInstanceIsOnItsWay() {
        Dispatcher<Job> dispatcher = new Dispatcher<>(BatchPolicy.single(1), 1);
        Job first = new Job();
        Job second = new Job();
        List<Job> batch = new ArrayList<>();

        assertThat(dispatcher.submit(first, 1)).isEqualTo(Admission.ACCEPTED);
        assertThat(dispatcher.instanceToWake(1)).isZero();
        assertThat(dispatcher.submit(second, 2)).isEqualTo(Admission.ACCEPTED);
        assertThat(dispatcher.instanceToWake(2)).isEqualTo(Dispatcher.NONE);
        assertThat(dispatcher.submit(new Job(), 3)).isEqualTo(Admission.QUEUE_FULL);

        assertThat(dispatcher.take(0, 4, batch)).isZero();
        assertThat(batch).containsExactly(first);
        assertThat(dispatcher.submit(new Job(), 5)).isEqualTo(Admission.QUEUE_FULL);
        assertThat(dispatcher.withdraw(second)).isTrue();
        assertThat(dispatcher.submit(new Job(), 6)).isEqualTo(Admission.ACCEPTED);
    }

    @Test
    void shouldPutATicketBackThatWaitedTooLongWhenItWantsThat() {
        BatchPolicy policy = new BatchPolicy(4, List.of(4), 0, false, List.of(10, 10), 0);
        Dispatcher<Job> dispatcher = new Dispatcher<>(policy, 1);
        Job late = new Job();
        late.waitsUntil(0, 10, true);
        Job punctual = new Job();
        Job less = new Job();
        less.waitsUntil(1, 0, false);
        dispatcher.submit(less, 1);
        dispatcher.submit(late, 2);
        dispatcher.submit(punctual, 3);
        dispatcher.expire(late);

        List<Job> batch = new ArrayList<>();
        dispatcher.take(0, 20, batch);

        assertThat(batch).containsExactly(punctual, late, less);
    }
}
