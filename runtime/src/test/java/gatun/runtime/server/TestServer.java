// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.spi.EntryPoint;
import gatun.spi.Execution;
import gatun.spi.MemoryUse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A repository in a temporary directory, and a server with one scripted backend over it. */
public final class TestServer implements AutoCloseable {
    public static final String BACKEND = "scripted";

    private final Path repository;
    public final BufferPool pool = new BufferPool(64 << 20);
    private GatunServer server;
    public ScriptedBackend backend;

    @SuppressWarnings("NullAway.Init") // set before each use
    public TestServer(Path repository) {
        this.repository = repository;
    }

    /** Adds a model with an empty version 1. */
    public TestServer model(String name, String config) {
        return model(name, config, 1);
    }

    /** Adds a model with empty version directories. */
    public TestServer model(String name, String config, long... versions) {
        try {
            Files.createDirectories(repository.resolve(name));
            for (long version : versions) {
                Files.createDirectories(repository.resolve(name).resolve(Long.toString(version)));
            }
            Files.writeString(repository.resolve(name).resolve("config.pbtxt"), config);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return this;
    }

    /** Adds a file to the directory of a model. */
    public TestServer file(String path, String text) {
        try {
            Files.writeString(repository.resolve(path), text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return this;
    }

    public TestServer open(Consumer<Execution> script) {
        return open(script, options -> options);
    }

    /** As {@link #open(Consumer)}, of models with these entry points. */
    public TestServer open(Consumer<Execution> script, List<EntryPoint> entryPoints) {
        return open(script, options -> {
            backend.entryPoints = entryPoints;
            return options;
        });
    }

    /** As {@link #open(Consumer)}, of models that touch these tensors in clients' memory. */
    public TestServer openInPlace(Consumer<Execution> script, String... tensors) {
        return open(script, options -> {
            backend.memory =
                    Stream.of(tensors).collect(Collectors.toMap(tensor -> tensor, tensor -> MemoryUse.IN_PLACE));
            return options;
        });
    }

    public TestServer open(Consumer<Execution> script, UnaryOperator<ServerOptions> settings) {
        backend = new ScriptedBackend(BACKEND, script);
        server = GatunServer.open(settings.apply(ServerOptions.of(pool, new FakeRegions())
                .repository(repository)
                .backend(backend)
                .exitTimeout(Duration.ofSeconds(10))));
        return this;
    }

    public GatunServer server() {
        return server;
    }

    /** The rows of its index: name, version, state and reason of each. */
    public List<String> index() {
        return server.index().stream()
                .map(row -> (row.name() + " " + row.version() + " " + row.state() + " " + row.reason()).strip())
                .toList();
    }

    /** A request to the latest version of a model. */
    public InferenceRequest request(String model) {
        return new InferenceRequest(server.model(model, ""));
    }

    /** Adds an FP32 input whose elements are 0, 1, 2, ... */
    public InferenceRequest input(InferenceRequest request, String name, long... dims) {
        return input(request, name, Datatype.FP32, Shape.of(dims).elementCount() * Float.BYTES, dims);
    }

    /** Adds an input of any size; 4-byte words count up from 0 as floats. */
    public InferenceRequest input(
            InferenceRequest request, String name, Datatype datatype, long byteSize, long... dims) {
        Buffer buffer = pool.take(Math.max(1, byteSize));
        request.hold(buffer);
        MemorySegment bytes = buffer.segment().asSlice(0, byteSize);
        bytes.fill((byte) 0);
        for (int i = 0; i < byteSize / Float.BYTES; i++) {
            bytes.setAtIndex(ValueLayout.JAVA_FLOAT, i, i);
        }
        request.addInput(new Tensor(new TensorSpec(name, datatype, Shape.of(dims)), bytes));
        return request;
    }

    @Override
    public void close() {
        if (server != null) {
            server.close();
        }
        pool.close();
    }
}
