// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.IoFailure;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.limits.LimitSettings.ModelLimits;
import gatun.spi.ConfigurationPath;
import gatun.spi.Datatypes;
import gatun.spi.Setting;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelWarmup;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Equal requests that each instance answers before it serves, so that no client pays for what is slow the first time:
 * {@code requestCount} run together, {@code runCount} times, with {@code inputs} ordered by name.
 */
public record WarmUpSample(String name, int requestCount, int runCount, List<Input> inputs) {
    /** The folder of the model's directory where the files lie. */
    private static final String FOLDER = "warmup";

    /** An empty string, as a BYTES tensor holds it. */
    private static final int EMPTY_STRING_BYTES = Integer.BYTES;

    /** The content of an input. */
    public sealed interface Content {
        /** Zeros; empty strings. */
        record Zeros() implements Content {}

        /** Random numbers, the same in each run of the server; empty strings. */
        record Random() implements Content {}

        /** The content of a file: exactly the bytes of the tensor, read-only. */
        record Data(MemorySegment bytes) implements Content {}
    }

    /** An input of each request; the shape in {@code spec} includes the batch dimension. */
    public record Input(TensorSpec spec, long byteSize, Content content) {}

    /** A sample whose inputs nobody changes any more. */
    public WarmUpSample {
        inputs = List.copyOf(inputs);
    }

    /**
     * The samples of a configuration, in its order, without those of batch size 0. Throws INVALID_ARGUMENT when one
     * says too little or its file is not there, RESOURCE_EXHAUSTED when it is larger than {@code limits} allow.
     */
    public static List<WarmUpSample> of(ModelConfig config, Path modelDirectory, ModelLimits limits) {
        List<WarmUpSample> samples = new ArrayList<>();
        for (ModelWarmup warmUp : config.getModelWarmupList()) {
            if (warmUp.getBatchSize() == 0) {
                continue;
            }
            List<Input> inputs = new ArrayList<>();
            long left = limits.warmUpByteSize();
            // In an order that does not change from start to start.
            for (Map.Entry<String, ModelWarmup.Input> input : new TreeMap<>(warmUp.getInputsMap()).entrySet()) {
                long byteLimit = left;
                Input made = ConfigurationPath.of("model_warmup", warmUp.getName())
                        .then("inputs", input.getKey())
                        .locate(() -> input(
                                input.getKey(),
                                input.getValue(),
                                config.getMaxBatchSize() > 0,
                                modelDirectory,
                                byteLimit));
                left -= made.byteSize();
                inputs.add(made);
            }
            samples.add(
                    new WarmUpSample(warmUp.getName(), warmUp.getBatchSize(), Math.max(1, warmUp.getCount()), inputs));
        }
        return samples;
    }

    /** @param byteLimit the most bytes that it may have */
    private static Input input(
            String name, ModelWarmup.Input input, boolean batching, Path modelDirectory, long byteLimit) {
        Datatype datatype = Datatypes.of(input.getDataType());
        if (datatype == Datatype.INVALID) {
            throw GatunException.invalidArgument("warmup setting expects input '" + name + "' to have data_type set");
        }
        Shape dims =
                Shape.of(input.getDimsList().stream().mapToLong(Long::longValue).toArray());
        long elementCount = dims.elementCount();
        if (elementCount == Shape.UNKNOWN_COUNT) {
            throw GatunException.invalidArgument(
                    "warmup setting expects all variable-size dimensions are specified for input '" + name + "'");
        }
        long byteSize = datatype == Datatype.BYTES
                ? Math.multiplyExact(Math.max(0, elementCount), EMPTY_STRING_BYTES)
                : dims.byteSize(datatype);
        if (elementCount < 0 || byteSize < 0) {
            throw GatunException.invalidArgument(
                    "warmup setting has dimensions " + dims + " for input '" + name + "', which no memory can hold");
        }
        requireSize(name, byteSize, byteLimit);
        TensorSpec spec = new TensorSpec(name, datatype, batching ? dims.prepend(1) : dims);
        return switch (input.getInputDataTypeCase()) {
            case ZERO_DATA -> new Input(spec, byteSize, new Content.Zeros());
            case RANDOM_DATA -> new Input(spec, byteSize, new Content.Random());
            case INPUT_DATA_FILE -> fromFile(spec, byteSize, input.getInputDataFile(), modelDirectory, byteLimit);
            case INPUTDATATYPE_NOT_SET ->
                throw GatunException.invalidArgument(
                        "warmup setting expects input '" + name + "' to have input_data_type set");
        };
    }

    private static void requireSize(String input, long byteSize, long byteLimit) {
        if (byteSize > byteLimit) {
            throw new GatunException(
                    ErrorCode.RESOURCE_EXHAUSTED,
                    "warmup setting has " + byteSize + " bytes for input '" + input + "', more than the " + byteLimit
                            + " that are left for it; the server's " + Setting.LIMIT_WARM_UP_BYTE_SIZE
                            + " sets the limit of a sample");
        }
    }

    private static Input fromFile(
            TensorSpec spec, long byteSize, String fileName, Path modelDirectory, long byteLimit) {
        MemorySegment bytes = MemorySegment.ofArray(read(spec.name(), fileName, modelDirectory, byteLimit))
                .asReadOnly();
        if (bytes.byteSize() < byteSize) {
            // Without a blank before "only", as users know it.
            throw GatunException.invalidArgument("warmup setting expects " + byteSize
                    + " bytes, but the data provided from " + fileName + "only has " + bytes.byteSize() + " bytes");
        }
        MemorySegment used = spec.datatype() == Datatype.BYTES ? bytes : bytes.asSlice(0, byteSize);
        return new Input(spec, used.byteSize(), new Content.Data(used));
    }

    private static byte[] read(String input, String fileName, Path modelDirectory, long byteLimit) {
        Path folder = modelDirectory.resolve(FOLDER).normalize();
        Path file = folder.resolve(fileName).normalize();
        if (!file.startsWith(folder)) {
            throw GatunException.invalidArgument(
                    "warmup setting reads '" + fileName + "', which leads out of the model's folder " + FOLDER);
        }
        try {
            requireSize(input, Files.size(file), byteLimit);
            return Files.readAllBytes(file);
        } catch (IOException e) {
            throw GatunException.invalidArgument(
                    "cannot read '" + fileName + "' in the model's folder " + FOLDER + ": " + IoFailure.reason(e));
        }
    }
}
