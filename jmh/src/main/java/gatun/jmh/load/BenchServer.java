// SPDX-License-Identifier: Apache-2.0
package gatun.jmh.load;

import com.sun.management.ThreadMXBean;
import gatun.grpc.GrpcEdge;
import gatun.grpc.GrpcSettings;
import gatun.http.HttpEdge;
import gatun.http.HttpSettings;
import gatun.memory.buffers.BufferPool;
import gatun.memory.regions.SharedRegions;
import gatun.runtime.server.GatunServer;
import gatun.runtime.server.ServerOptions;
import gatun.server.SocketReaders;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.ServerCalls;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.http.HttpRules;
import io.helidon.webserver.http.HttpService;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;

/**
 * The server of {@link LoadComparison}: Gatun with the example models, and on the very same listeners a bare echo, which reads a request's
 * body and answers bytes of the same number as the model's answer has.
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
                GrpcEdge grpc = GrpcEdge.of(gatun, GrpcSettings.standard().withClientSharedMemory(true), echo())) {
            HttpEdge http = new HttpEdge(gatun, new HttpSettings(HttpSettings.DEFAULT_MAX_INPUT_BYTE_SIZE, true));
            WebServer httpServer = WebServer.builder()
                    .host("127.0.0.1")
                    .port(0)
                    .shutdownHook(false)
                    .update(listener -> http.configure(listener, new EchoService()))
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

    /** {@code POST /echo} over HTTP, and {@code GET /allocated}: the bytes of the heap that all threads have taken so far. */
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
