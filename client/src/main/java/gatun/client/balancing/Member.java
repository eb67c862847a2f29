// SPDX-License-Identifier: Apache-2.0
package gatun.client.balancing;

import gatun.client.ClientException;
import gatun.client.ClientOptions;
import gatun.client.DeadlineException;
import gatun.client.GatunClient;
import gatun.client.MalformedResponseException;
import gatun.client.Retries;
import gatun.client.ServerAddress;
import gatun.client.ServerException;
import gatun.client.StatusCode;
import gatun.client.UnreachableException;
import gatun.client.calls.SingleServerClient;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/**
 * One of several servers, with its calls under way. An unfit one is asked now and then, on a thread of its own, whether
 * it is ready again. Owns its client. Thread-safe.
 */
final class Member implements AutoCloseable {
    /** The refusals in a row after which a server gets no more requests. */
    private static final int REFUSALS = 3;

    private static final Duration FIRST_PAUSE = Duration.ofMillis(500);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(10);

    /** How long a server may take to say that it is ready. */
    private static final Duration PROBE = Duration.ofSeconds(2);

    private final ClientOptions options;
    private final SingleServerClient client;
    private final AtomicInteger underWay = new AtomicInteger();
    private final AtomicInteger refusals = new AtomicInteger();
    private final AtomicBoolean unfit = new AtomicBoolean();
    private volatile boolean closed;

    Member(ServerAddress server, ClientOptions all) {
        // Calls are made again by who knows the other servers.
        options = all.withServers(List.of(server)).withRetries(Retries.NONE);
        client = (SingleServerClient) GatunClient.connect(options);
    }

    boolean isFit() {
        return !unfit.get();
    }

    /** How many calls of this client it has not answered yet. */
    int underWay() {
        return underWay.get();
    }

    SingleServerClient client() {
        return client;
    }

    /** Makes a call, and counts its outcome. */
    <T> T call(Function<SingleServerClient, T> call) {
        underWay.incrementAndGet();
        try {
            T result = call.apply(client);
            if (refusals.get() > 0) {
                refusals.set(0);
            }
            return result;
        } catch (ClientException e) {
            takeNote(e);
            throw e;
        } finally {
            underWay.decrementAndGet();
        }
    }

    private void takeNote(ClientException failure) {
        boolean refused =
                switch (failure) {
                    case UnreachableException unreachable -> {
                        // Given up by its caller, mostly since another server was faster.
                        boolean givenUp = Thread.currentThread().isInterrupted();
                        if (!givenUp) {
                            eject();
                        }
                        yield givenUp;
                    }
                    case ServerException answered -> answered.code() == StatusCode.UNAVAILABLE;
                    case DeadlineException late -> true;
                    case MalformedResponseException malformed -> true;
                };
        if (!refused) {
            refusals.set(0);
        } else if (refusals.incrementAndGet() >= REFUSALS) {
            eject();
        }
    }

    private void eject() {
        if (!closed && unfit.compareAndSet(false, true)) {
            Thread.ofVirtual().name("gatun-client-probe").start(this::awaitReady);
        }
    }

    private void awaitReady() {
        Duration pause = FIRST_PAUSE;
        while (!closed) {
            try {
                Thread.sleep(pause);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
            // A new connection each time, to the address that the name has now.
            try (GatunClient probe = GatunClient.connect(options.withDeadline(PROBE))) {
                if (probe.server().ready()) {
                    refusals.set(0);
                    unfit.set(false);
                    return;
                }
            } catch (ClientException e) {
                // Answered, but not as a server that is ready: asked again later, as one that is away.
            }
            pause = pause.multipliedBy(2).compareTo(LONGEST_PAUSE) < 0 ? pause.multipliedBy(2) : LONGEST_PAUSE;
        }
    }

    @Override
    public void close() {
        closed = true;
        client.close();
    }
}
