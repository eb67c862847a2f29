// SPDX-License-Identifier: Apache-2.0
package gatun.jmh.load;

import com.sun.management.ThreadMXBean;
import gatun.grpc.GrpcListener;
import gatun.grpc.GrpcService;
import gatun.grpc.GrpcSettings;
import gatun.http.HttpListener;
import gatun.http.HttpSettings;
import gatun.memory.buffers.BufferPool;
import gatun.memory.regions.SharedRegions;
import gatun.protocol.Protocol;
import gatun.protocol.ProtocolSettings;
import gatun.runtime.server.GatunServer;
import gatun.runtime.server.InferenceServer;
import gatun.runtime.server.ServerOptions;
import gatun.server.SocketReaders;
import gatun.v2.protocol.V2Protocol;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.ServerCalls;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.http.HttpRules;
import io.helidon.webserver.http.HttpService;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * The server of {@link LoadComparison}: Gatun with the example models, and on the very same listeners a bare echo,
 * which reads a request's body and sends as many bytes as the model's response has.
 */
final class BenchServer {
    private BenchServer() {}

    /** Starts it and prints {@code ready <http port> <grpc port>}; runs until it is killed. */
    public static void main(String[] arguments) throws InterruptedException {
        SocketReaders.configure();
        try (BufferPool buffers = new BufferPool(1L << 30);
                SharedRegions regions = SharedRegions.open(buffers);
                GatunServer gatun =
                        GatunServer.open(ServerOptions.of(buffers, regions).repository(Path.of(arguments[0])));
                GrpcListener grpc = GrpcListener.of(gatun, GrpcSettings.standard(), services(v2(gatun)))) {
            HttpListener http = new HttpListener(buffers, HttpSettings.STANDARD);
            WebServer httpServer = WebServer.builder()
                    .host("127.0.0.1")
                    .port(0)
                    .shutdownHook(false)
                    .update(listener ->
                            http.configure(listener, List.of(v2(gatun).http()), new EchoService()))
                    .build()
                    .start();
            WebServer grpcServer = WebServer.builder()
                    .host("127.0.0.1")
                    .port(0)
                    .shutdownHook(false)
                    .update(grpc::serveOn)
                    .build()
                    .start();
            System.out.println("ready " + httpServer.port() + " " + grpcServer.port());
            new CountDownLatch(1).await();
        }
    }

    private static Protocol v2(InferenceServer server) {
        return new V2Protocol(server, ProtocolSettings.standard());
    }

    private static List<GrpcService> services(Protocol v2) {
        List<GrpcService> services = new ArrayList<>(v2.grpc());
        services.add(GrpcService.open(echo()));
        return services;
    }

    /**
     * {@code POST /echo} over HTTP, and {@code GET /allocated}: the bytes of the heap that all threads have taken so
     * far.
     */
    private static final class EchoService implements HttpService {
        @Override
        public void routing(HttpRules rules) {
            rules.post("/echo", (request, response) -> {
                byte[] body;
                try {
                    body = request.content().inputStream().readAllBytes();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
                response.send(body);
            });
            ThreadMXBean memory = (ThreadMXBean) ManagementFactory.getThreadMXBean();
            rules.get(
                    "/allocated",
                    (request, response) -> response.send(Long.toString(memory.getTotalThreadAllocatedBytes())));
        }
    }

    /** {@code bench.Echo/Call} over gRPC. */
    private static ServerServiceDefinition echo() {
        return ServerServiceDefinition.builder("bench.Echo")
                .addMethod(
                        GrpcExchange.bytesMethod(GrpcExchange.ECHO), ServerCalls.asyncUnaryCall((request, observer) -> {
                            observer.onNext(request);
                            observer.onCompleted();
                        }))
                .build();
    }
}
