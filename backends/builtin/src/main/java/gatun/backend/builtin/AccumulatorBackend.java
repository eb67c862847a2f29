// SPDX-License-Identifier: Apache-2.0
package gatun.backend.builtin;

import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Tensor;
import gatun.spi.Backend;
import gatun.spi.BackendInstance;
import gatun.spi.BackendModel;
import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.spi.Execution;
import gatun.spi.InstanceSpec;
import gatun.wire.inference.DataType;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelSequenceBatching;
import gatun.wire.inference.ModelSequenceBatching.Control.Kind;
import gatun.wire.inference.ModelSequenceBatching.ControlInput;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Answers each request of a sequence with the sum so far of the sequence's inputs: output {@code OUTPUT} of input
 * {@code INPUT}, of INT32, one element for each item of the batch. Control inputs say where a sequence starts and ends,
 * which rows of a batch mean anything, and whose they are. A model whose scheduler gives each sequence a place in the
 * batch needs START only; one that has CORRID finds the sum by the correlation id, and needs END too.
 */
public final class AccumulatorBackend implements Backend {
    private static final ConfigurationPath BATCHING = ConfigurationPath.of("sequence_batching");
    private static final ConfigurationPath CONTROLS = BATCHING.then("control_input");

    /** For {@link java.util.ServiceLoader}. */
    public AccumulatorBackend() {}

    @Override
    public String name() {
        return "sequence_accumulator";
    }

    /** It has no files. */
    @Override
    public boolean takesUploads() {
        return true;
    }

    @Override
    public BackendModel load(ModelConfig config, Path versionDirectory) {
        require(config.hasSequenceBatching(), config, BATCHING, "it has no sequence_batching");
        require(
                config.getInputList().stream()
                        .anyMatch(input -> input.getName().equals(AccumulatorInstance.INPUT)
                                && input.getDataType() == DataType.TYPE_INT32),
                config,
                ConfigurationPath.of("input"),
                "it has no input 'INPUT' of TYPE_INT32");
        require(
                config.getOutputCount() == 1
                        && config.getOutput(0).getName().equals(AccumulatorInstance.OUTPUT)
                        && config.getOutput(0).getDataType() == DataType.TYPE_INT32,
                config,
                ConfigurationPath.of("output"),
                "expected a single output 'OUTPUT' of TYPE_INT32");
        Controls controls = Controls.of(config.getSequenceBatching().getControlInputList());
        require(controls.start().isPresent(), config, CONTROLS, "it has no control input of CONTROL_SEQUENCE_START");
        require(
                controls.correlationId().isPresent()
                        || !config.getSequenceBatching().hasOldest(),
                config,
                CONTROLS,
                "its scheduler is 'oldest', which gives sequences no place of their own, so that it needs a control"
                        + " input of"
                        + " CONTROL_SEQUENCE_CORRID");
        require(
                controls.correlationId().isEmpty() || controls.end().isPresent(),
                config,
                CONTROLS,
                "it has a control input of CONTROL_SEQUENCE_CORRID and needs one of CONTROL_SEQUENCE_END too");
        int candidates =
                Math.max(config.getSequenceBatching().getOldest().getMaxCandidateSequences(), config.getMaxBatchSize());
        return new AccumulatorModel(controls, config.getMaxBatchSize() > 0, Math.max(1, candidates));
    }

    private static void require(boolean holds, ModelConfig config, ConfigurationPath path, String otherwise) {
        if (!holds) {
            throw new ConfigurationException(
                    path, "the sequence_accumulator backend cannot run model '" + config.getName() + "': " + otherwise);
        }
    }

    /** A model that adds up sequences, at most {@code sequenceLimit} at a time in an instance. */
    record AccumulatorModel(Controls controls, boolean batching, int sequenceLimit) implements BackendModel {
        @Override
        public BackendInstance newInstance(InstanceSpec spec) {
            return new AccumulatorInstance(this);
        }
    }

    /** Adds up the inputs of the sequences of one instance. */
    static final class AccumulatorInstance implements BackendInstance {
        static final String INPUT = "INPUT";
        static final String OUTPUT = "OUTPUT";

        private final AccumulatorModel model;
        private final Sums sums;

        AccumulatorInstance(AccumulatorModel model) {
            this.model = model;
            sums = new Sums(model.sequenceLimit());
        }

        @Override
        public void execute(Execution execution) {
            Tensor input = input(execution);
            int rows = model.batching() ? Math.toIntExact(input.spec().shape().dim(0)) : 1;
            if (input.spec().shape().elementCount() != rows) {
                throw GatunException.invalidArgument("input 'INPUT' has shape "
                        + input.spec().shape() + ", expected one element for each of " + rows + " requests");
            }
            execution.inferStarted();
            MemorySegment output = execution.output(
                    0, Datatype.INT32, input.spec().shape(), input.bytes().byteSize());
            for (int row = 0; row < rows; row++) {
                int value = input.bytes().getAtIndex(ElementLayouts.INT32, row);
                boolean ready = isSet(model.controls().ready(), execution, row, true);
                output.setAtIndex(ElementLayouts.INT32, row, ready ? sum(execution, row, value) : 0);
            }
            execution.inferEnded();
        }

        private int sum(Execution execution, int row, int value) {
            Optional<Control> id = model.controls().correlationId();
            Object sequence = id.isPresent() ? id.get().id(execution, row) : (Integer) row;
            int sum = sums.add(sequence, isSet(model.controls().start(), execution, row, false), value);
            if (isSet(model.controls().end(), execution, row, false)) {
                sums.end(sequence);
            }
            return sum;
        }

        private static boolean isSet(Optional<Control> control, Execution execution, int row, boolean otherwise) {
            return control.isPresent() ? control.get().isSet(execution, row) : otherwise;
        }

        private static Tensor input(Execution execution) {
            int index = execution.inputIndex(INPUT);
            if (index >= 0) {
                return execution.input(index);
            }
            throw GatunException.invalidArgument("the request has no input 'INPUT'");
        }
    }

    /**
     * The sums of an instance's sequences. Nobody tells of sequences that the scheduler gave up for being idle, so
     * beyond the limit the one not used for longest goes. Used by the instance's thread only.
     */
    static final class Sums {
        private final Map<Object, Integer> bySequence;

        /** @param limit how many sequences there can be at a time */
        Sums(int limit) {
            bySequence = new LinkedHashMap<>(16, 0.75f, true) {
                @Override
                protected boolean removeEldestEntry(Map.Entry<Object, Integer> eldest) {
                    return size() > limit;
                }
            };
        }

        /** Sets the sum of a sequence that begins, or adds to it; returns it. A sum beyond INT32 wraps around. */
        int add(Object sequence, boolean starts, int value) {
            int sum = starts ? value : bySequence.getOrDefault(sequence, 0) + value;
            bySequence.put(sequence, sum);
            return sum;
        }

        void end(Object sequence) {
            bySequence.remove(sequence);
        }

        int count() {
            return bySequence.size();
        }
    }

    /** A control input. */
    record Control(String name, ModelSequenceBatching.Control values) {
        /** Whether it says true for that row of the batch. */
        boolean isSet(Execution execution, long row) {
            Tensor tensor = tensor(execution);
            MemorySegment bytes = tensor.bytes();
            return switch (tensor.spec().datatype()) {
                case INT32 -> bytes.getAtIndex(ElementLayouts.INT32, row) == values.getInt32FalseTrue(1);
                case FP32 -> bytes.getAtIndex(ElementLayouts.FP32, row) == values.getFp32FalseTrue(1);
                case BOOL -> (bytes.get(ValueLayout.JAVA_BYTE, row) != 0) == values.getBoolFalseTrue(1);
                default -> throw unexpected(tensor);
            };
        }

        Object id(Execution execution, int row) {
            Tensor tensor = tensor(execution);
            MemorySegment bytes = tensor.bytes();
            return switch (tensor.spec().datatype()) {
                case INT64, UINT64 -> bytes.getAtIndex(ElementLayouts.INT64, row);
                case INT32, UINT32 -> Integer.toUnsignedLong(bytes.getAtIndex(ElementLayouts.INT32, row));
                case BYTES -> text(bytes, row);
                default -> throw unexpected(tensor);
            };
        }

        private static String text(MemorySegment bytes, int row) {
            long at = 0;
            for (int i = 0; i < row; i++) {
                at += BytesCodec.LENGTH_BYTES + BytesCodec.elementByteSize(bytes, at);
            }
            return BytesCodec.text(bytes, at + BytesCodec.LENGTH_BYTES, BytesCodec.elementByteSize(bytes, at));
        }

        private Tensor tensor(Execution execution) {
            int index = execution.inputIndex(name);
            if (index >= 0) {
                return execution.input(index);
            }
            throw GatunException.invalidArgument("the run has no control input '" + name + "'");
        }

        private GatunException unexpected(Tensor tensor) {
            return GatunException.invalidArgument("control input '" + name + "' is of "
                    + tensor.spec().datatype() + ", which the sequence_accumulator backend does not read");
        }
    }

    /** The control inputs of a model, by their kinds. */
    record Controls(
            Optional<Control> start, Optional<Control> end, Optional<Control> ready, Optional<Control> correlationId) {
        static Controls of(List<ControlInput> inputs) {
            return new Controls(
                    find(inputs, Kind.CONTROL_SEQUENCE_START),
                    find(inputs, Kind.CONTROL_SEQUENCE_END),
                    find(inputs, Kind.CONTROL_SEQUENCE_READY),
                    find(inputs, Kind.CONTROL_SEQUENCE_CORRID));
        }

        private static Optional<Control> find(List<ControlInput> inputs, Kind kind) {
            for (ControlInput input : inputs) {
                for (ModelSequenceBatching.Control control : input.getControlList()) {
                    if (control.getKind() == kind) {
                        return Optional.of(new Control(input.getName(), control));
                    }
                }
            }
            return Optional.empty();
        }
    }
}
