package gatun.grpc.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.ManagedChannelBuilder;
import io.grpc.ServerInterceptors;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.testing.integration.AbstractInteropTest;
import io.grpc.testing.integration.TestServiceImpl;
import java.lang.reflect.Method;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.runner.JUnitCore;
import org.junit.runner.Request;
import org.junit.runner.Result;

/** The interoperability cases that gRPC's authors run against their own servers, with their client and their service. */
@Timeout(120)
class InteropTest {
    /** Cases that look into a server of grpc-java's in the same process; without one they check nothing. */
    private static final Set<String> OF_THEIR_SERVER =
            Set.of("censusContextsPropagated", "sendsTimeoutHeader", "getServerAddressAndLocalAddressFromClient");

    private static ScheduledExecutorService executor;
    private static TestServer server;

    @BeforeAll
    static void serve() {
        executor = Executors.newScheduledThreadPool(2);
        server = TestServer.start(
                ServerInterceptors.intercept(new TestServiceImpl(executor), TestServiceImpl.interceptors()));
    }

    @AfterAll
    static void stop() {
        server.close();
        executor.shutdownNow();
    }

    /** The cases are JUnit 4's, which runs one instance of this for each. */
    public static final class Cases extends AbstractInteropTest {
        @Override
        protected ManagedChannelBuilder<?> createChannelBuilder() {
            return NettyChannelBuilder.forAddress("127.0.0.1", server.port())
                    .usePlaintext()
                    .flowControlWindow(TEST_FLOW_CONTROL_WINDOW)
                    .maxInboundMessageSize(MAX_MESSAGE_SIZE);
        }

        @Override
        protected boolean metricsExpected() {
            return false;
        }

        /** Compressed requests; that the others are not compressed is nothing that grpc-java's service can see. */
        @org.junit.Test
        public void clientCompressedUnary() throws Exception {
            clientCompressedUnary(false);
        }

        /** The same for streams. */
        @org.junit.Test
        public void clientCompressedStreaming() throws Exception {
            clientCompressedStreaming(false);
        }
    }

    static Stream<String> cases() {
        return Stream.of(Cases.class.getMethods())
                .filter(method -> method.isAnnotationPresent(org.junit.Test.class))
                .map(Method::getName)
                .filter(name -> !OF_THEIR_SERVER.contains(name))
                .sorted();
    }

    @ParameterizedTest
    @MethodSource("cases")
    void shouldPass(String name) {
        Result result = new JUnitCore().run(Request.method(Cases.class, name));

        assertThat(result.getFailures()).isEmpty();
        assertThat(result.getRunCount()).isOne();
        assertThat(result.getAssumptionFailureCount()).isZero();
        server.awaitNothingLent();
    }
}
