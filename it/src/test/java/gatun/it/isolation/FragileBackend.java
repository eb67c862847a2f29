// SPDX-License-Identifier: Apache-2.0
package gatun.it.isolation;

import gatun.memory.tensor.GatunException;
import gatun.spi.Backend;
import gatun.spi.BackendInstance;
import gatun.spi.BackendModel;
import gatun.spi.Execution;
import gatun.spi.InstanceSpec;
import gatun.spi.StopSignal;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelParameter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * An engine that repeats its input, a number, unless that tells it to do something worse. The parameter {@code load}
 * of a model has it crash or hang while it loads, or says how it is to fail; {@code mark} is a file that it makes where a run
 * waits.
 */
public final class FragileBackend implements Backend {
    static final int READ_ADDRESS_0 = 1;
    static final int ABORT = 2;
    static final int EXIT = 3;
    static final int WAIT = 4;
    static final int TAKE_MEMORY = 5;
    static final int FAIL = 6;
    static final int THROW = 7;
    static final int SAY_MUCH = 8;

    /** For {@link java.util.ServiceLoader}. */
    public FragileBackend() {}

    @Override
    public String name() {
        return "fragile";
    }

    private static String parameter(ModelConfig config, String name) {
        return config.getParametersOrDefault(name, ModelParameter.getDefaultInstance())
                .getStringValue();
    }

    @Override
    public BackendModel load(ModelConfig config, Path versionDirectory) {
        String mark = parameter(config, "mark");
        String load = parameter(config, "load");
        switch (load) {
            case "", "hang-instance", "hang-run" -> {}
            case "hang" -> hang(mark);
            case "crash" -> readAddress0();
            default -> throw GatunException.invalidArgument("the model's file is no model");
        }
        return new Model(mark, load);
    }

    private record Model(String mark, String load) implements BackendModel {
        @Override
        public BackendInstance newInstance(InstanceSpec spec) {
            if (load.equals("hang-instance")) {
                hang(mark);
            }
            return new Instance(mark, load.equals("hang-run"));
        }
    }

    /** Makes a file whose name is that of {@code mark} and ".hangs", and returns when there is one with ".returns". */
    private static void hang(String mark) {
        if (!Files.exists(Path.of(mark + ".returns"))) {
            touch(mark + ".hangs");
        }
        while (!Files.exists(Path.of(mark + ".returns"))) {
            LockSupport.parkNanos(10_000_000);
            Thread.interrupted(); // as an engine that knows nothing of it
        }
    }

    private static final class Instance implements BackendInstance {
        private final StopSignal signal = new StopSignal();
        private final String mark;
        private final boolean hangs;

        Instance(String mark, boolean hangs) {
            this.mark = mark;
            this.hangs = hangs;
        }

        @Override
        public void execute(Execution execution) {
            signal.begin(execution);
            execution.inferStarted();
            if (hangs) {
                hang(mark);
            }
            act((int) execution.input(0).bytes().get(ValueLayout.JAVA_FLOAT_UNALIGNED, 0));
            execution.outputFromInput(0, 0, execution.inputSpec(0).shape());
            execution.inferEnded();
        }

        private void act(int what) {
            switch (what) {
                case READ_ADDRESS_0 -> readAddress0();
                case ABORT -> abortProcess();
                case EXIT -> Runtime.getRuntime().halt(5);
                case WAIT -> {
                    touch(mark);
                    signal.await(Duration.ofHours(1));
                }
                case TAKE_MEMORY -> {
                    touch(mark);
                    Arena.ofAuto().allocate(1L << 30).fill((byte) 1);
                    signal.await(Duration.ofHours(1));
                }
                case FAIL -> throw GatunException.invalidArgument("the engine says no");
                case THROW -> throw new IllegalStateException("a bug");
                case SAY_MUCH -> System.out.println("frames do not go this way ".repeat(1000));
                default -> {}
            }
        }

        @Override
        public void stop() {
            signal.stop();
        }
    }

    private static void touch(String mark) {
        try {
            Files.createFile(Path.of(mark));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @SuppressWarnings("restricted") // the point of it
    private static void readAddress0() {
        long ignored = MemorySegment.ofAddress(8).reinterpret(8).get(ValueLayout.JAVA_LONG, 0);
    }

    @SuppressWarnings("restricted") // as above
    private static void abortProcess() {
        try {
            Linker linker = Linker.nativeLinker();
            linker.downcallHandle(linker.defaultLookup().find("abort").orElseThrow(), FunctionDescriptor.ofVoid())
                    .invokeExact();
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }
}
