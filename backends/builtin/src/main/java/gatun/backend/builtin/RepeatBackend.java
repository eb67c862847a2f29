// SPDX-License-Identifier: Apache-2.0
package gatun.backend.builtin;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.spi.Backend;
import gatun.spi.BackendInstance;
import gatun.spi.BackendModel;
import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.spi.DetachedRun;
import gatun.spi.Execution;
import gatun.spi.InstanceSpec;
import gatun.spi.StopSignal;
import gatun.wire.inference.DataType;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelSequenceBatching.State;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * Answers a request once for each element of its input {@code IN}, of INT32: with the element as {@code OUT} and its
 * index as {@code IDX}, of UINT32. Before the n-th response it waits the n-th of {@code DELAY} milliseconds, and the
 * whole run takes {@code WAIT} milliseconds at least, both of UINT32, as Triton's repeat example. An instance takes the
 * next request after {@code WAIT} milliseconds. A model that is not decoupled refuses requests of several elements.
 *
 * <p>With {@code sequence_batching { iterative_sequence: true }}, each run answers with one element and asks for
 * another run while there are more, so that requests take turns; the last takes {@code WAIT} milliseconds. The next
 * element is the state {@code NEXT_IN} and {@code NEXT_OUT}, which is added to a configuration without states.
 */
public final class RepeatBackend implements Backend {
    /** For {@link java.util.ServiceLoader}. */
    public RepeatBackend() {}

    @Override
    public String name() {
        return "repeat";
    }

    /** It has no files. */
    @Override
    public boolean takesUploads() {
        return true;
    }

    @Override
    public ModelConfig complete(ModelConfig config, Path versionDirectory) {
        if (!isIterative(config) || config.getSequenceBatching().getStateCount() > 0) {
            return config;
        }
        ModelConfig.Builder completed = config.toBuilder();
        completed
                .getSequenceBatchingBuilder()
                .addState(State.newBuilder()
                        .setInputName(RepeatRun.NEXT_IN)
                        .setOutputName(RepeatRun.NEXT_OUT)
                        .setDataType(DataType.TYPE_UINT32)
                        .addDims(1));
        return completed.build();
    }

    private static boolean isIterative(ModelConfig config) {
        return config.getSequenceBatching().getIterativeSequence();
    }

    @Override
    public BackendModel load(ModelConfig config, Path versionDirectory) {
        require(
                config.getMaxBatchSize() == 0,
                config,
                ConfigurationPath.of("max_batch_size"),
                "max_batch_size is " + config.getMaxBatchSize() + ", expected 0");
        input(config, RepeatRun.IN, DataType.TYPE_INT32);
        input(config, RepeatRun.DELAY, DataType.TYPE_UINT32);
        input(config, RepeatRun.WAIT, DataType.TYPE_UINT32);
        require(
                config.getInputCount() == 3,
                config,
                ConfigurationPath.of("input"),
                "it has " + config.getInputCount() + " inputs, expected IN, DELAY, WAIT");
        output(config, RepeatRun.OUT, DataType.TYPE_INT32);
        output(config, RepeatRun.IDX, DataType.TYPE_UINT32);
        require(
                config.getOutputCount() == 2,
                config,
                ConfigurationPath.of("output"),
                "it has " + config.getOutputCount() + " outputs, expected OUT, IDX");
        if (isIterative(config)) {
            List<State> states = config.getSequenceBatching().getStateList();
            require(
                    states.size() == 1
                            && states.getFirst().getInputName().equals(RepeatRun.NEXT_IN)
                            && states.getFirst().getOutputName().equals(RepeatRun.NEXT_OUT)
                            && states.getFirst().getDataType() == DataType.TYPE_UINT32
                            && states.getFirst().getDimsList().equals(List.of(1L)),
                    config,
                    ConfigurationPath.of("sequence_batching").then("state"),
                    "it is iterative and has other states than NEXT_IN, NEXT_OUT of TYPE_UINT32 [ 1 ]; leave them out");
        }
        return new RepeatModel(isIterative(config));
    }

    private static void input(ModelConfig config, String name, DataType datatype) {
        require(
                config.getInputList().stream()
                        .anyMatch(input -> input.getName().equals(name) && input.getDataType() == datatype),
                config,
                ConfigurationPath.of("input", name).then("data_type"),
                "it has no input '" + name + "' of " + datatype);
    }

    private static void output(ModelConfig config, String name, DataType datatype) {
        require(
                config.getOutputList().stream()
                        .anyMatch(output -> output.getName().equals(name) && output.getDataType() == datatype),
                config,
                ConfigurationPath.of("output", name).then("data_type"),
                "it has no output '" + name + "' of " + datatype);
    }

    private static void require(boolean holds, ModelConfig config, ConfigurationPath path, String otherwise) {
        if (!holds) {
            throw new ConfigurationException(
                    path, "the repeat backend cannot run model '" + config.getName() + "': " + otherwise);
        }
    }

    /** A model that repeats its input; if {@code iterative}, one element in each run while there are more. */
    record RepeatModel(boolean iterative) implements BackendModel {
        @Override
        public BackendInstance newInstance(InstanceSpec spec) {
            return new RepeatInstance(iterative);
        }
    }

    /** Begins runs, which go on beside it where they can; it is free for the next after {@code WAIT} milliseconds. */
    static final class RepeatInstance implements BackendInstance {
        private final boolean iterative;

        /** The run that this instance does itself, or did last. */
        private volatile RepeatRun present;

        RepeatInstance(boolean iterative) {
            this.iterative = iterative;
            present = new RepeatRun(iterative);
        }

        @Override
        public void execute(Execution execution) {
            RepeatRun run = new RepeatRun(iterative);
            Duration wait = RepeatRun.leastDuration(execution);
            if (execution.detach(run)) {
                run.hold(wait);
                return;
            }
            present = run;
            run.run(execution);
        }

        @Override
        public void stop() {
            present.stop();
        }
    }

    /** One run: sends one response after the other, or the one of an iteration. */
    static final class RepeatRun implements DetachedRun {
        static final String IN = "IN";
        static final String DELAY = "DELAY";
        static final String WAIT = "WAIT";
        static final String OUT = "OUT";
        static final String IDX = "IDX";
        static final String NEXT_IN = "NEXT_IN";
        static final String NEXT_OUT = "NEXT_OUT";

        private final boolean iterative;
        private final StopSignal signal = new StopSignal();

        RepeatRun(boolean iterative) {
            this.iterative = iterative;
        }

        @Override
        public void run(Execution execution) {
            signal.begin(execution);
            long startedNanos = System.nanoTime();
            Tensor in = input(execution, IN);
            Tensor delays = input(execution, DELAY);
            long count = in.spec().shape().elementCount();
            if (delays.spec().shape().elementCount() != count) {
                throw GatunException.invalidArgument("expected IN and DELAY shape to match, got "
                        + in.spec().shape() + " and " + delays.spec().shape() + "; give one delay for each element");
            }
            Duration least = leastDuration(execution);
            long first = iterative ? unsigned(input(execution, NEXT_IN), 0) : 0;
            long end = iterative ? Math.min(count, first + 1) : count;
            execution.inferStarted();
            for (long i = first; i < end; i++) {
                signal.await(Duration.ofMillis(unsigned(delays, i)));
                respond(execution, in.bytes().getAtIndex(ElementLayouts.INT32, i), (int) i);
                execution.send();
            }
            execution.inferEnded();
            if (iterative) {
                goOnAt(execution, (int) end);
            }
            if (end < count) {
                execution.requests().getFirst().runAgain();
                return;
            }
            signal.await(least.minusNanos(System.nanoTime() - startedNanos));
        }

        /** How long the run is to take at least. */
        static Duration leastDuration(Execution execution) {
            return Duration.ofMillis(unsigned(input(execution, WAIT), 0));
        }

        /** Waits that long, or until nobody wants the run's responses. */
        void hold(Duration time) {
            try {
                signal.await(time);
            } catch (GatunException stopped) {
                // The run itself fails by that.
            }
        }

        private static void respond(Execution execution, int element, int index) {
            for (int i = 0; i < execution.outputCount(); i++) {
                if (execution.outputName(i).equals(NEXT_OUT)) {
                    continue; // of the run, not of a response
                }
                boolean isElement = execution.outputName(i).equals(OUT);
                execution
                        .output(i, isElement ? Datatype.INT32 : Datatype.UINT32, Shape.of(1), Integer.BYTES)
                        .set(ElementLayouts.INT32, 0, isElement ? element : index);
            }
        }

        private static void goOnAt(Execution execution, int next) {
            for (int i = 0; i < execution.outputCount(); i++) {
                if (execution.outputName(i).equals(NEXT_OUT)) {
                    execution
                            .output(i, Datatype.UINT32, Shape.of(1), Integer.BYTES)
                            .set(ElementLayouts.INT32, 0, next);
                }
            }
        }

        private static long unsigned(Tensor tensor, long index) {
            return Integer.toUnsignedLong(tensor.bytes().getAtIndex(ElementLayouts.INT32, index));
        }

        private static Tensor input(Execution execution, String name) {
            int index = execution.inputIndex(name);
            if (index >= 0) {
                return execution.input(index);
            }
            throw GatunException.invalidArgument(
                    "the request leaves input '" + name + "' out, which the repeat backend needs");
        }

        @Override
        public void stop() {
            signal.stop();
        }
    }
}
