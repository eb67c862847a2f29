// SPDX-License-Identifier: Apache-2.0
package gatun.v2.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.testing.Await;
import io.grpc.Status;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class HealthServiceTest {
    @RegisterExtension
    final ServiceFixture service = new ServiceFixture();

    /** A client that watches, and its events. */
    private static final class Watcher implements ClientResponseObserver<HealthCheckRequest, HealthCheckResponse> {
        private final BlockingQueue<Object> events = new LinkedBlockingQueue<>();

        @SuppressWarnings("NullAway.Init") // set before each use
        private ClientCallStreamObserver<HealthCheckRequest> call;

        @Override
        public void beforeStart(ClientCallStreamObserver<HealthCheckRequest> newCall) {
            call = newCall;
        }

        @Override
        public void onNext(HealthCheckResponse response) {
            events.add(response.getStatus());
        }

        @Override
        public void onError(Throwable failure) {
            events.add(Status.fromThrowable(failure).getCode());
        }

        @Override
        public void onCompleted() {
            events.add("completed");
        }

        /** The next event of the watch. */
        Object next() throws InterruptedException {
            Object event = events.poll(20, TimeUnit.SECONDS);
            assertThat(event).as("the next event").isNotNull();
            return event;
        }

        void cancel() {
            call.cancel("seen enough", Status.CANCELLED.asRuntimeException());
        }
    }

    private static HealthCheckRequest request(String name) {
        return HealthCheckRequest.newBuilder().setService(name).build();
    }

    private ServingStatus check(String name) {
        return HealthGrpc.newBlockingStub(service.channel())
                .withDeadlineAfter(20, TimeUnit.SECONDS)
                .check(request(name))
                .getStatus();
    }

    private Watcher watch(String name) {
        Watcher watcher = new Watcher();
        HealthGrpc.newStub(service.channel()).watch(request(name), watcher);
        return watcher;
    }

    /** As Triton, which does not look at the name. */
    @ParameterizedTest
    @ValueSource(strings = {"", "inference.GRPCInferenceService", "grpc.health.v1.Health", "any"})
    void shouldAnswerForTheServerWhateverTheName(String name) {
        assertThat(check(name)).isEqualTo(ServingStatus.SERVING);
        service.server().ready(false);
        assertThat(check(name)).isEqualTo(ServingStatus.NOT_SERVING);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "inference.GRPCInferenceService"})
    void shouldTellAWatcherTheStatusAtOnceAndEachChange(String name) throws Exception {
        Watcher watcher = watch(name);
        assertThat(watcher.next()).isEqualTo(ServingStatus.SERVING);
        for (int i = 0; i < 3; i++) {
            service.server().ready(false);
            assertThat(watcher.next()).isEqualTo(ServingStatus.NOT_SERVING);
            service.server().ready(true);
            assertThat(watcher.next()).isEqualTo(ServingStatus.SERVING);
        }
        watcher.cancel();
        assertThat(watcher.next()).isEqualTo(Status.Code.CANCELLED);
    }

    @Test
    void shouldTellAWatcherOnceThatAServiceIsUnknown() throws Exception {
        Watcher unknown = watch("any");
        Watcher known = watch("");
        assertThat(unknown.next()).isEqualTo(ServingStatus.SERVICE_UNKNOWN);
        assertThat(known.next()).isEqualTo(ServingStatus.SERVING);
        service.server().ready(false);
        assertThat(known.next()).isEqualTo(ServingStatus.NOT_SERVING);
        // The call goes on, in case the service comes; the next event is its end.
        unknown.cancel();
        assertThat(unknown.next()).isEqualTo(Status.Code.CANCELLED);
    }

    @Test
    void shouldWantToKnowNoMoreWhenNobodyWatches() throws Exception {
        Watcher watcher = watch("");
        assertThat(watcher.next()).isEqualTo(ServingStatus.SERVING);
        assertThat(service.server().listenerCount()).isEqualTo(1);
        watcher.cancel();
        Await.until("still listening", () -> service.server().listenerCount() <= 0);
    }

    @Test
    void shouldSayThatItStopsAndLetWatchersGo() throws Exception {
        Watcher watcher = watch("");
        Watcher unknown = watch("any");
        assertThat(watcher.next()).isEqualTo(ServingStatus.SERVING);
        assertThat(unknown.next()).isEqualTo(ServingStatus.SERVICE_UNKNOWN);
        service.announceStop();
        assertThat(watcher.next()).isEqualTo(ServingStatus.NOT_SERVING);
        assertThat(watcher.next()).isEqualTo(Status.Code.UNAVAILABLE);
        assertThat(unknown.next()).isEqualTo(Status.Code.UNAVAILABLE);
        assertThat(check("")).isEqualTo(ServingStatus.NOT_SERVING);
        Watcher late = watch("");
        assertThat(late.next()).isEqualTo(ServingStatus.NOT_SERVING);
        assertThat(late.next()).isEqualTo(Status.Code.UNAVAILABLE);
    }

    @Test
    void shouldNotServeOnceTheServerBeginsToStop() throws Exception {
        assertThat(check("")).isEqualTo(ServingStatus.SERVING);
        service.server().exit();
        assertThat(check("")).isEqualTo(ServingStatus.NOT_SERVING);
    }
}
