// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import gatun.memory.tensor.GatunException;
import gatun.wire.inference.DataType;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelSequenceBatching;
import gatun.wire.inference.ModelSequenceBatching.Control;
import gatun.wire.inference.ModelSequenceBatching.ControlInput;
import gatun.wire.inference.ModelSequenceBatching.State;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Checks how a configuration wants sequences to be batched. */
final class SequenceRules {
    private static final List<DataType> CORRELATION_ID_TYPES = List.of(
            DataType.TYPE_UINT64, DataType.TYPE_INT64, DataType.TYPE_UINT32, DataType.TYPE_INT32, DataType.TYPE_STRING);

    private SequenceRules() {}

    /** @throws GatunException INVALID_ARGUMENT with the first rule that {@code config} breaks */
    static void check(ModelConfig config) {
        ModelSequenceBatching batching = config.getSequenceBatching();
        switch (batching.getStrategyChoiceCase()) {
            case DIRECT, STRATEGYCHOICE_NOT_SET -> checkDirect(config, batching);
            case OLDEST -> checkOldest(config, batching);
        }
        checkControls(config, batching.getControlInputList());
        checkStates(config, batching.getStateList());
        checkNames(config, batching);
    }

    private static void checkDirect(ModelConfig config, ModelSequenceBatching batching) {
        float utilization = batching.getDirect().getMinimumSlotUtilization();
        require(
                utilization >= 0 && utilization <= 1,
                config,
                "sequence batching minimum slot utilization must be in range (0.0, 1.0]");
    }

    private static void checkOldest(ModelConfig config, ModelSequenceBatching batching) {
        for (int size : batching.getOldest().getPreferredBatchSizeList()) {
            require(size > 0, config, "sequence batching preferred batch size must be positive");
            require(
                    size <= config.getMaxBatchSize(),
                    config,
                    "sequence batching preferred batch size must be <= max batch size");
        }
    }

    private static void checkControls(ModelConfig config, List<ControlInput> inputs) {
        Set<String> names = new HashSet<>();
        Set<Control.Kind> kinds = EnumSet.noneOf(Control.Kind.class);
        for (ControlInput input : inputs) {
            require(!input.getName().isEmpty(), config, "sequence batching control tensor must have a name");
            for (Control control : input.getControlList()) {
                require(
                        names.add(input.getName()),
                        config,
                        "sequence batching control tensor '" + input.getName()
                                + "' is specified for multiple control kinds");
                require(
                        control.getKind() != Control.Kind.UNRECOGNIZED,
                        config,
                        "sequence batching control tensor '" + input.getName() + "' has unknown kind "
                                + control.getKindValue());
                require(
                        kinds.add(control.getKind()),
                        config,
                        "sequence batching specifies multiple " + control.getKind() + " tensors");
                if (control.getKind() == Control.Kind.CONTROL_SEQUENCE_CORRID) {
                    checkCorrelationId(config, control);
                } else {
                    checkFlag(config, control);
                }
            }
        }
    }

    private static void checkFlag(ModelConfig config, Control control) {
        int given = 0;
        given += checkPair(config, control, "int32", control.getInt32FalseTrueCount());
        given += checkPair(config, control, "fp32", control.getFp32FalseTrueCount());
        given += checkPair(config, control, "bool", control.getBoolFalseTrueCount());
        require(
                given > 0,
                config,
                "sequence batching must specify either 'int32_false_true', 'fp32_false_true' or 'bool_false_true' for "
                        + control.getKind());
        require(
                given == 1,
                config,
                "sequence batching specifies more than one from 'int32_false_true', 'fp32_false_true' and"
                        + " 'bool_false_true'"
                        + " for " + control.getKind());
    }

    /** How many of the ways to tell a flag this is: one, or none when it has no entries. */
    private static int checkPair(ModelConfig config, Control control, String type, int entries) {
        require(
                entries == 0 || entries == 2,
                config,
                "sequence batching control '" + type + "_false_true' must have exactly 2 entries for "
                        + control.getKind());
        return entries == 0 ? 0 : 1;
    }

    private static void checkCorrelationId(ModelConfig config, Control control) {
        require(
                control.getInt32FalseTrueCount() + control.getFp32FalseTrueCount() + control.getBoolFalseTrueCount()
                        == 0,
                config,
                "sequence batching must not specify either 'int32_false_true', 'fp32_false_true' or 'bool_false_true'"
                        + " for CONTROL_SEQUENCE_CORRID");
        if (!CORRELATION_ID_TYPES.contains(control.getDataType())) {
            throw GatunException.invalidArgument(
                    "unexpected data type for control CONTROL_SEQUENCE_CORRID for " + config.getName()
                            + ". Allowed data types are TYPE_UINT64, TYPE_INT64, TYPE_UINT32, TYPE_INT32 and"
                            + " TYPE_STRING");
        }
    }

    private static void checkStates(ModelConfig config, List<State> states) {
        for (State state : states) {
            require(
                    !state.getInputName().isEmpty() && !state.getOutputName().isEmpty(),
                    config,
                    "sequence batching state must specify 'input_name' and 'output_name'");
            String subject = "sequence batching state '" + state.getInputName() + "' ";
            TensorRules.checkDatatype(config, subject, state.getDataType());
            TensorRules.checkDims(config, subject, state.getDimsList());
            require(
                    state.getInitialStateCount() <= 1,
                    config,
                    subject + "has " + state.getInitialStateCount() + " initial states, expected at most one,");
            require(
                    state.getUseSameBufferForInputOutput() || !state.getUseGrowableMemory(),
                    config,
                    "In order to 'use_growable_memory', you must also enable 'use_same_buffer_for_input_output' for"
                            + " state"
                            + " input name '" + state.getInputName() + "'");
        }
    }

    /** No two inputs have the same name, nor two states the same output. */
    private static void checkNames(ModelConfig config, ModelSequenceBatching batching) {
        Set<String> inputs = new HashSet<>();
        config.getInputList().forEach(input -> inputs.add(input.getName()));
        config.getBatchInputList().forEach(input -> inputs.addAll(input.getTargetNameList()));
        for (ControlInput control : batching.getControlInputList()) {
            // One that controls nothing is no input, as in Triton.
            require(
                    control.getControlCount() == 0 || inputs.add(control.getName()),
                    config,
                    "model input '" + control.getName() + "' is given twice");
        }
        Set<String> outputs = new HashSet<>();
        for (State state : batching.getStateList()) {
            require(
                    inputs.add(state.getInputName()),
                    config,
                    "model input '" + state.getInputName() + "' is given twice");
            require(
                    outputs.add(state.getOutputName()),
                    config,
                    "model output '" + state.getOutputName() + "' is the state of two inputs");
        }
    }

    private static void require(boolean holds, ModelConfig config, String otherwise) {
        if (!holds) {
            throw GatunException.invalidArgument(otherwise + " for " + config.getName());
        }
    }
}
