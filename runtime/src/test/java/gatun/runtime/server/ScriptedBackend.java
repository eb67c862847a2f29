// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.spi.Backend;
import gatun.spi.BackendInstance;
import gatun.spi.BackendModel;
import gatun.spi.EntryPoint;
import gatun.spi.Execution;
import gatun.spi.InstanceSpec;
import gatun.spi.MemoryUse;
import gatun.wire.inference.ModelConfig;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import java.util.function.Consumer;

/** A backend whose runs do what the test says. Counts the models and instances that are open. */
public final class ScriptedBackend implements Backend {
    private final String name;
    private final Consumer<Execution> script;

    /** Models and instances that are open now. */
    public final AtomicInteger open = new AtomicInteger();

    /** Runs that were told to stop. */
    public final AtomicInteger stopped = new AtomicInteger();

    /** Run before a version is loaded. */
    public volatile Runnable beforeLoad = () -> {};

    /** The warm-up of each instance. */
    public volatile Runnable warmUp = () -> {};

    /** Run before an instance is closed. */
    public volatile Runnable beforeClose = () -> {};

    /** The entry points of its models. */
    public volatile List<EntryPoint> entryPoints = List.of();

    /** Where its models touch the tensors of these names, if they lie in clients' memory; other tensors are copied. */
    public volatile Map<String, MemoryUse> memory = Map.of();

    /** Whether only the thread that made an instance may run it. */
    public volatile boolean boundToThread = true;

    /** Whether the engine is started now. */
    public volatile boolean started;

    /** Completes a configuration from the files of a version. */
    public volatile BiFunction<ModelConfig, Path, ModelConfig> completion = (config, versionDirectory) -> config;

    public ScriptedBackend(String name, Consumer<Execution> script) {
        this.name = name;
        this.script = script;
    }

    /** Copies input n to output n. */
    public static void copy(Execution execution) {
        for (int i = 0; i < execution.outputCount(); i++) {
            var input = execution.input(i);
            execution
                    .output(
                            i,
                            input.spec().datatype(),
                            input.spec().shape(),
                            input.bytes().byteSize())
                    .copyFrom(input.bytes());
        }
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public boolean takesUploads() {
        return true;
    }

    @Override
    public Set<String> requestParameters() {
        return Set.of("requested");
    }

    @Override
    public void start(Map<String, String> options) {
        if (options.containsKey("missing")) {
            throw new GatunException(ErrorCode.UNAVAILABLE, "the library of '" + name + "' is missing; install it");
        }
        started = true;
    }

    @Override
    public ModelConfig complete(ModelConfig config, Path versionDirectory) {
        return completion.apply(config, versionDirectory);
    }

    @Override
    public BackendModel load(ModelConfig config, Path versionDirectory) {
        beforeLoad.run();
        open.incrementAndGet();
        return new BackendModel() {
            @Override
            public BackendInstance newInstance(InstanceSpec instance) {
                if (instance.name().endsWith("_9")) {
                    throw GatunException.invalidArgument("the tenth instance never starts");
                }
                open.incrementAndGet();
                return new Instance();
            }

            @Override
            public MemoryUse inputMemory(String input) {
                return memory.getOrDefault(input, MemoryUse.copied("the test says so"));
            }

            @Override
            public MemoryUse outputMemory(String output) {
                return memory.getOrDefault(output, MemoryUse.copied("the test says so"));
            }

            @Override
            public List<EntryPoint> entryPoints() {
                return entryPoints;
            }

            @Override
            public void close() {
                open.decrementAndGet();
            }
        };
    }

    @Override
    public void close() {
        started = false;
    }

    private final class Instance implements BackendInstance {
        private final Thread owner = Thread.currentThread();

        @Override
        public boolean isBoundToThread() {
            return boundToThread;
        }

        @Override
        public void execute(Execution execution) {
            if (boundToThread && !Thread.currentThread().equals(owner)) {
                throw new AssertionError("run by " + Thread.currentThread() + ", made by " + owner);
            }
            script.accept(execution);
        }

        @Override
        public void stop() {
            stopped.incrementAndGet();
        }

        @Override
        public void warmUp() {
            warmUp.run();
        }

        @Override
        public void close() {
            if (boundToThread && !Thread.currentThread().equals(owner)) {
                throw new AssertionError("closed by " + Thread.currentThread() + ", made by " + owner);
            }
            beforeClose.run();
            open.decrementAndGet();
        }
    }
}
