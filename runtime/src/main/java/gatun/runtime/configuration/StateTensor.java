// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.IoFailure;
import gatun.memory.tensor.Shape;
import gatun.spi.ConfigurationPath;
import gatun.spi.Datatypes;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelSequenceBatching.InitialState;
import gatun.wire.inference.ModelSequenceBatching.State;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A tensor that the model gives for one step of a sequence and gets for the next.
 *
 * @param inputName its name as an input of the model
 * @param outputName its name as an output of the model
 * @param dims the dimensions without the batch dimension; some may be variable
 * @param initial what the first step gets
 * @param sameBuffer whether the model writes it where it read it
 * @param growable whether it may also become larger there: its buffer grows, and keeps what it holds
 */
public record StateTensor(
        String inputName,
        String outputName,
        Datatype datatype,
        Shape dims,
        Initial initial,
        boolean sameBuffer,
        boolean growable) {
    /** The value of a state in the first step: its fixed shape, and bytes on the heap, read-only; empty for zeros. */
    public record Initial(Shape shape, long byteSize, Optional<MemorySegment> data) {}

    /** The longest file of an initial state; it is kept on the heap. */
    private static final long MAX_FILE_BYTE_SIZE = 16 << 20;

    /** The folder for initial states in a model's directory. */
    private static final String FOLDER = "initial_state";

    /**
     * The states of a checked configuration, in its order, with their files in {@code modelDirectory}. Throws
     * INVALID_ARGUMENT when an initial state does not suit its state, or its file cannot be read.
     */
    public static List<StateTensor> of(ModelConfig config, Path modelDirectory) {
        List<StateTensor> states = new ArrayList<>();
        for (State state : config.getSequenceBatching().getStateList()) {
            Optional<InitialState> initial =
                    state.getInitialStateCount() == 0 ? Optional.empty() : Optional.of(state.getInitialState(0));
            ConfigurationPath path = ConfigurationPath.of("sequence_batching").then("state", state.getInputName());
            states.add(path.then("initial_state").locate(() -> of(state, initial, modelDirectory)));
        }
        return List.copyOf(states);
    }

    private static StateTensor of(State state, Optional<InitialState> initial, Path modelDirectory) {
        Datatype datatype = Datatypes.of(state.getDataType());
        Shape dims = shape(state.getDimsList());
        Shape initialShape = initial.map(given -> shape(given.getDimsList())).orElseGet(() -> smallest(dims));
        String subject = "initial state of '" + state.getInputName() + "' ";
        if (initial.isPresent() && Datatypes.of(initial.get().getDataType()) != datatype) {
            throw GatunException.invalidArgument(subject + "has data_type "
                    + initial.get().getDataType() + ", expected " + state.getDataType() + " as the state");
        }
        if (!initialShape.isFixed() || !dims.accepts(initialShape)) {
            throw GatunException.invalidArgument(subject + "has dims " + initialShape
                    + ", expected fixed ones that suit those of the state, " + dims);
        }
        long count = initialShape.elementCount();
        long byteSize = datatype == Datatype.BYTES
                ? Math.multiplyExact(Math.max(0, count), (long) BytesCodec.LENGTH_BYTES)
                : initialShape.byteSize(datatype);
        if (count < 0 || byteSize < 0) {
            throw GatunException.invalidArgument(subject + "has dims " + initialShape + ", which no memory can hold");
        }
        Optional<MemorySegment> data = initial.filter(InitialState::hasDataFile)
                .map(given -> read(subject, given.getDataFile(), modelDirectory));
        if (data.isPresent()) {
            checkData(subject, datatype, count, byteSize, data.get());
            byteSize = data.get().byteSize();
        }
        return new StateTensor(
                state.getInputName(),
                state.getOutputName(),
                datatype,
                dims,
                new Initial(initialShape, byteSize, data),
                state.getUseSameBufferForInputOutput(),
                state.getUseGrowableMemory());
    }

    private static Shape shape(List<Long> dims) {
        return Shape.of(dims.stream().mapToLong(Long::longValue).toArray());
    }

    /** The shape of a state of which the configuration does not say how it begins. */
    private static Shape smallest(Shape dims) {
        long[] fixed = dims.toArray();
        for (int i = 0; i < fixed.length; i++) {
            fixed[i] = fixed[i] == Shape.VARIABLE ? 1 : fixed[i];
        }
        return Shape.of(fixed);
    }

    private static void checkData(String subject, Datatype datatype, long count, long byteSize, MemorySegment data) {
        if (datatype == Datatype.BYTES) {
            if (BytesCodec.check(data, count) != BytesCodec.Check.Complete.COMPLETE) {
                throw GatunException.invalidArgument(
                        subject + "has a data_file that is not " + count + " strings, each after its 4-byte length");
            }
        } else if (data.byteSize() != byteSize) {
            throw GatunException.invalidArgument(
                    subject + "has a data_file of " + data.byteSize() + " bytes, expected " + byteSize);
        }
    }

    private static MemorySegment read(String subject, String fileName, Path modelDirectory) {
        Path folder = modelDirectory.resolve(FOLDER).normalize();
        Path file = folder.resolve(fileName).normalize();
        if (!file.startsWith(folder)) {
            throw GatunException.invalidArgument(
                    subject + "reads '" + fileName + "', which leads out of the model's folder " + FOLDER);
        }
        try {
            if (Files.size(file) > MAX_FILE_BYTE_SIZE) {
                throw GatunException.invalidArgument(subject + "reads '" + fileName + "' of " + Files.size(file)
                        + " bytes, expected at most " + MAX_FILE_BYTE_SIZE);
            }
            return MemorySegment.ofArray(Files.readAllBytes(file)).asReadOnly();
        } catch (IOException e) {
            throw GatunException.invalidArgument(subject + "cannot read '" + fileName + "' in the model's folder "
                    + FOLDER + ": " + IoFailure.reason(e));
        }
    }
}
