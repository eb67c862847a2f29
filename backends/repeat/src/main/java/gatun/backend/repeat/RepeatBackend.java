// SPDX-License-Identifier: Apache-2.0
package gatun.backend.repeat;

import gatun.spi.Backend;
import gatun.spi.BackendModel;
import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.wire.inference.DataType;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelSequenceBatching.State;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * Answers a request once for each element of its input {@code IN}, of INT32: with the element as {@code OUT} and its
 * index as {@code IDX}, of UINT32. Before the n-th response it waits the n-th of {@code DELAY} milliseconds, and the
 * whole run takes {@code WAIT} milliseconds at least; both are of UINT32. The same tensors as Triton's repeat example
 * has, for the same clients. An instance takes the next request after {@code WAIT} milliseconds, while this one goes on. A model that is not decoupled answers requests of one element, and refuses others.
 *
 * <p>A model with {@code sequence_batching { iterative_sequence: true }} answers with one element in each run, and asks
 * for another run while there are more, so that requests take turns; its last run takes {@code WAIT} milliseconds.
 * Which element is next is the state {@code NEXT_IN} and {@code NEXT_OUT} of the request's sequence, which is added to
 * a configuration without states.
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
    public void start(Map<String, String> options) {
        // There is no engine to start.
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

    @Override
    public void close() {
        // There is no engine to end.
    }
}
