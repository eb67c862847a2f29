// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.listener.PemFile;
import gatun.listener.ServerTls;
import gatun.listener.TlsFiles;
import gatun.testing.Certificates;
import io.grpc.ChannelCredentials;
import io.grpc.ManagedChannelBuilder;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import io.grpc.TlsChannelCredentials;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.testing.integration.AbstractInteropTest;
import io.grpc.testing.integration.TestServiceImpl;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.runner.JUnitCore;
import org.junit.runner.Request;
import org.junit.runner.Result;

/**
 * The interoperability cases that gRPC's authors run against their own servers, with their client and their service.
 */
@Timeout(120)
class InteropTest {
    /** Cases that look into a server of grpc-java's in the same process; without one they check nothing. */
    private static final Set<String> OF_THEIR_SERVER =
            Set.of("censusContextsPropagated", "sendsTimeoutHeader", "getServerAddressAndLocalAddressFromClient");

    @TempDir
    static Path folder;

    private static ScheduledExecutorService executor;
    private static TestServer server;
    private static TestServer securedServer;
    private static ChannelCredentials credentials;

    @BeforeAll
    static void serve() throws IOException {
        Certificates.Identity identity = new Certificates(folder).identity("server", "EC", 256);
        credentials = TlsChannelCredentials.newBuilder()
                .trustManager(identity.certificate().toFile())
                .build();
        executor = Executors.newScheduledThreadPool(2);
        ServerServiceDefinition service =
                ServerInterceptors.intercept(new TestServiceImpl(executor), TestServiceImpl.interceptors());
        server = TestServer.start(service);
        securedServer = TestServer.overTls(
                ServerTls.load(new TlsFiles(
                        new PemFile("--cert", identity.certificate()),
                        new PemFile("--key", identity.key()),
                        Optional.empty())),
                service);
    }

    @AfterAll
    static void stop() {
        server.close();
        securedServer.close();
        executor.shutdownNow();
    }

    /** The cases are JUnit 4's, which runs one instance of this for each. */
    public static class Plain extends AbstractInteropTest {
        NettyChannelBuilder toServer() {
            return NettyChannelBuilder.forAddress("localhost", server.port()).usePlaintext();
        }

        @Override
        protected ManagedChannelBuilder<?> createChannelBuilder() {
            return toServer().flowControlWindow(TEST_FLOW_CONTROL_WINDOW).maxInboundMessageSize(MAX_MESSAGE_SIZE);
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

    /** The same over TLS. */
    public static final class Secured extends Plain {
        @Override
        NettyChannelBuilder toServer() {
            return NettyChannelBuilder.forAddress("localhost", securedServer.port(), credentials);
        }
    }

    static Stream<Arguments> cases() {
        return Stream.of(Plain.class, Secured.class).flatMap(transport -> Stream.of(transport.getMethods())
                .filter(method -> method.isAnnotationPresent(org.junit.Test.class))
                .map(Method::getName)
                .filter(name -> !OF_THEIR_SERVER.contains(name))
                .sorted()
                .map(name -> Arguments.of(transport, name)));
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("cases")
    void shouldPass(Class<?> transport, String name) {
        Result result = new JUnitCore().run(Request.method(transport, name));

        assertThat(result.getFailures()).isEmpty();
        assertThat(result.getRunCount()).isOne();
        assertThat(result.getAssumptionFailureCount()).isZero();
        server.awaitNothingLent();
        securedServer.awaitNothingLent();
    }
}
