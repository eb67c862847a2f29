// SPDX-License-Identifier: Apache-2.0
package gatun.jmh;

import gatun.memory.buffers.BufferPool;
import gatun.memory.regions.RegionRegistry.Access;
import gatun.memory.regions.SharedMemoryObject;
import gatun.memory.regions.SharedRegions;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.RegionLease;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.ModelSettings;
import gatun.runtime.ModelVersion;
import gatun.runtime.RequestedOutput;
import gatun.runtime.server.GatunServer;
import gatun.runtime.server.ServerOptions;
import gatun.spi.Backend;
import gatun.spi.BackendInstance;
import gatun.spi.BackendModel;
import gatun.spi.Execution;
import gatun.spi.InstanceSpec;
import gatun.wire.inference.ModelConfig;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * A request whose input lies in a client's region and whose output belongs there, through the whole server but its
 * sockets, with an engine that reads one element and writes one: in the client's own memory, and in copies that the
 * client cannot change.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 4, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(2)
public class ClientMemoryBenchmark {
    private static final String KEY = "/gatun-client-memory-benchmark";
    private static final long POOL_BYTES = 64 << 20;

    /** Elements of the input, of 8 bytes each: token ids of a short text, and of many. */
    @Param({"128", "8192"})
    public int count;

    /** Whether clients are trusted, so that nothing is copied. */
    @Param({"true", "false"})
    public boolean inPlace;

    private Path repository;
    private BufferPool pool;
    private SharedRegions regions;
    private SharedMemoryObject object;
    private GatunServer server;
    private ModelVersion model;
    private TensorSpec spec;

    private static final class Reading implements Backend {
        @Override
        public String name() {
            return "reading";
        }

        @Override
        public BackendModel load(ModelConfig config, Path versionDirectory) {
            return new BackendModel() {
                @Override
                public BackendInstance newInstance(InstanceSpec instance) {
                    return new ReadingInstance();
                }
            };
        }
    }

    private static final class ReadingInstance implements BackendInstance {
        @Override
        public boolean isBoundToThread() {
            return false;
        }

        @Override
        public void execute(Execution execution) {
            long first = execution.input(0).bytes().get(ValueLayout.JAVA_LONG, 0);
            execution.output(0, Datatype.INT64, Shape.of(1), Long.BYTES).set(ValueLayout.JAVA_LONG, 0, first);
        }
    }

    /** Serves the model, and registers the memory of a client. */
    @Setup(Level.Trial)
    public void open() throws IOException {
        repository = Files.createTempDirectory("client-memory");
        Files.createDirectories(repository.resolve("m/1"));
        Files.writeString(repository.resolve("m/config.pbtxt"), """
                backend: "reading"
                input [ { name: "IN" data_type: TYPE_INT64 dims: [ -1 ] } ]
                output [ { name: "OUT" data_type: TYPE_INT64 dims: [ 1 ] } ]
                """);
        pool = BufferPool.withReserve(POOL_BYTES, "");
        regions = SharedRegions.open(pool);
        object = SharedMemoryObject.posix(KEY, byteSize() + Long.BYTES);
        regions.register("client", KEY, 0, byteSize() + Long.BYTES);
        server = GatunServer.open(ServerOptions.of(pool, regions)
                .repository(repository)
                .backend(new Reading())
                .models(ModelSettings.STANDARD.withoutLog().trustingClients(inPlace)));
        model = server.model("m", "");
        spec = new TensorSpec("IN", Datatype.INT64, Shape.of(count));
    }

    private long byteSize() {
        return (long) count * Long.BYTES;
    }

    /** One request. */
    @Benchmark
    public void request() {
        InferenceRequest request = new InferenceRequest(model);
        RegionLease input = regions.borrow("client", 0, byteSize(), Access.READ);
        request.hold(input);
        request.addInput(Tensor.inRegion(spec, input));
        RegionLease output = regions.borrow("client", byteSize(), Long.BYTES, Access.WRITE);
        request.hold(output);
        request.addOutput(new RequestedOutput("OUT", Optional.of(output), 0));
        server.infer(request).close();
    }

    /** Ends the server, and takes the client's memory away. */
    @TearDown(Level.Trial)
    public void close() throws IOException {
        server.close();
        regions.close();
        object.close();
        pool.close();
        Files.delete(repository.resolve("m/config.pbtxt"));
        Files.delete(repository.resolve("m/1"));
        Files.delete(repository.resolve("m"));
        Files.delete(repository);
    }
}
