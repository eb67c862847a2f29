// SPDX-License-Identifier: Apache-2.0
package gatun.backend.sequence;

import gatun.backend.sequence.Control.Controls;
import gatun.spi.Backend;
import gatun.spi.BackendModel;
import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.wire.inference.DataType;
import gatun.wire.inference.ModelConfig;
import java.nio.file.Path;

/**
 * Answers each request of a sequence with the sum so far of the sequence's inputs: output {@code OUTPUT} of input
 * {@code INPUT}, both of INT32 and one element for each item of the batch. Learns from the control inputs of the
 * configuration where a sequence starts and ends, which rows of a batch mean anything, and whose they are.
 *
 * <p>A model whose scheduler gives each sequence a place in the batch needs START only. One that has CORRID finds the
 * sum by the correlation id, and needs END too.
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
}
