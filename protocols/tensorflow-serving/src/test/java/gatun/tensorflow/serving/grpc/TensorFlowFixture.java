// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import gatun.memory.buffers.BufferPool;
import gatun.memory.regions.SharedRegions;
import gatun.protocol.testing.TestServer;
import gatun.protocol.testing.TestServerSettings;
import gatun.runtime.ModelStatus.ModelState;
import gatun.runtime.server.GatunServer;
import gatun.runtime.server.ServerOptions;
import gatun.tensorflow.serving.TensorFlowSettings;
import gatun.tensorflow.serving.protocol.TensorFlowProtocol;
import gatun.testing.Await;
import gatun.wire.tensorflow.ProfilerServiceGrpc;
import gatun.wire.tensorflow.serving.ModelServiceGrpc;
import gatun.wire.tensorflow.serving.PredictResponse;
import gatun.wire.tensorflow.serving.PredictionServiceGrpc;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A server with models of {@link EchoBackend} and {@link JudgeBackend} behind the gRPC services, and clients of
 * TensorFlow Serving's.
 */
final class TensorFlowFixture implements AutoCloseable {
    /** The backend of most models. */
    final EchoBackend echo = new EchoBackend();

    private final Path repository;
    private final BufferPool pool = new BufferPool(256 << 20);
    private final SharedRegions regions = SharedRegions.open(pool);
    private GatunServer server;
    private TestServer edge;

    /** Models will lie in {@code repository}. */
    @SuppressWarnings("NullAway.Init") // set before each use
    TensorFlowFixture(Path repository) {
        this.repository = repository;
    }

    /** Adds a model of {@link EchoBackend} with empty version directories. */
    TensorFlowFixture model(String name, String config, long... versions) {
        return model(name, "echo", config, versions);
    }

    /** Adds a model with empty version directories. */
    TensorFlowFixture model(String name, String backend, String config, long... versions) {
        try {
            for (long version : versions) {
                Files.createDirectories(repository.resolve(name).resolve(Long.toString(version)));
            }
            Files.writeString(
                    repository.resolve(name).resolve("config.pbtxt"), "backend: \"" + backend + "\" " + config);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return this;
    }

    /** Loads the models and serves them. */
    TensorFlowFixture open(TestServerSettings edges, TensorFlowSettings settings) {
        open(ServerOptions.of(pool, regions).repository(repository), edges, settings);
        return this;
    }

    /** Serves no model, but lets clients list those of the repository's folders. */
    TensorFlowFixture openList() {
        open(
                ServerOptions.of(pool, regions).listed(List.of()).reloadFolder(repository),
                TestServerSettings.usual(),
                TensorFlowSettings.STANDARD);
        return this;
    }

    private void open(ServerOptions options, TestServerSettings edges, TensorFlowSettings settings) {
        server = GatunServer.open(
                options.backend(echo).backend(new JudgeBackend()).exitTimeout(Duration.ofSeconds(10)));
        edge = new TestServer(server, edges, (before, common) -> new TensorFlowProtocol(before, common, settings));
    }

    TensorFlowFixture open() {
        return open(TestServerSettings.usual(), TensorFlowSettings.STANDARD);
    }

    ManagedChannel channel() {
        return edge.channel();
    }

    PredictionServiceGrpc.PredictionServiceBlockingStub prediction() {
        return PredictionServiceGrpc.newBlockingStub(edge.channel());
    }

    ModelServiceGrpc.ModelServiceBlockingStub models() {
        return ModelServiceGrpc.newBlockingStub(edge.channel());
    }

    ProfilerServiceGrpc.ProfilerServiceBlockingStub profiler() {
        return ProfilerServiceGrpc.newBlockingStub(edge.channel());
    }

    /** Whether requests are traced now, which in these tests only a profile causes. */
    boolean isTracing() {
        return server.tracing()
                .begin("any", 1, server, none -> Optional.empty())
                .isPresent();
    }

    /** Tells the server that it stops soon. */
    void announceStop() {
        server.announceStop();
    }

    /** Predict, by a message of any bytes. */
    PredictResponse predict(byte[] bytes) {
        MethodDescriptor<byte[], PredictResponse> raw = PredictionServiceGrpc.getPredictMethod().toBuilder(
                        new MethodDescriptor.Marshaller<byte[]>() {
                            @Override
                            public InputStream stream(byte[] value) {
                                return new ByteArrayInputStream(value);
                            }

                            @Override
                            public byte[] parse(InputStream stream) {
                                return new byte[0];
                            }
                        },
                        PredictionServiceGrpc.getPredictMethod().getResponseMarshaller())
                .build();
        return ClientCalls.blockingUnaryCall(edge.channel(), raw, CallOptions.DEFAULT, bytes);
    }

    /** Waits until no version of a model answers. */
    void awaitUnloaded(String model) {
        Await.until("the end of " + model, () -> server.index().stream()
                .noneMatch(row -> row.name().equals(model) && row.state() == ModelState.READY));
    }

    /** The failure of a call as "CODE text". */
    static String failure(Runnable call) {
        StatusRuntimeException failure = catchThrowableOfType(StatusRuntimeException.class, call::run);
        assertThat(failure).as("the call fails").isNotNull();
        Status status = failure.getStatus();
        return status.getCode() + " " + status.getDescription();
    }

    /** Checks that nothing is left in the pool. */
    @Override
    public void close() {
        edge.close();
        server.close();
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (pool.usedBytes() > 0 && System.nanoTime() < deadline) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
        }
        assertThat(pool.usedBytes()).as("left in the pool").isZero();
        regions.close();
        pool.close();
    }
}
