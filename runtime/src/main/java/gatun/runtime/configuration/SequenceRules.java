// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import static gatun.runtime.configuration.Rule.require;

import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
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

    private static final ConfigurationPath BATCHING = ConfigurationPath.of("sequence_batching");

    private SequenceRules() {}

    /** @throws ConfigurationException with the first rule that {@code config} breaks */
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
                BATCHING.then("direct").then("minimum_slot_utilization"),
                "sequence batching minimum slot utilization must be in range (0.0, 1.0]");
    }

    private static void checkOldest(ModelConfig config, ModelSequenceBatching batching) {
        SchedulingRules.checkPreferredSizes(
                config,
                BATCHING.then("oldest"),
                "sequence batching preferred batch size",
                batching.getOldest().getPreferredBatchSizeList());
    }

    private static void checkControls(ModelConfig config, List<ControlInput> inputs) {
        Set<String> names = new HashSet<>();
        Set<Control.Kind> kinds = EnumSet.noneOf(Control.Kind.class);
        for (ControlInput input : inputs) {
            ConfigurationPath path = control(input);
            require(!input.getName().isEmpty(), config, path, "sequence batching control tensor must have a name");
            for (Control control : input.getControlList()) {
                require(
                        names.add(input.getName()),
                        config,
                        path,
                        "sequence batching control tensor '" + input.getName()
                                + "' is specified for multiple control kinds");
                require(
                        control.getKind() != Control.Kind.UNRECOGNIZED,
                        config,
                        path,
                        "sequence batching control tensor '" + input.getName() + "' has unknown kind "
                                + control.getKindValue());
                require(
                        kinds.add(control.getKind()),
                        config,
                        path,
                        "sequence batching specifies multiple " + control.getKind() + " tensors");
                if (control.getKind() == Control.Kind.CONTROL_SEQUENCE_CORRID) {
                    checkCorrelationId(config, path, control);
                } else {
                    checkFlag(config, path, control);
                }
            }
        }
    }

    private static ConfigurationPath control(ControlInput input) {
        return BATCHING.then("control_input", input.getName());
    }

    private static void checkFlag(ModelConfig config, ConfigurationPath path, Control control) {
        int given = 0;
        given += checkPair(config, path, control, "int32", control.getInt32FalseTrueCount());
        given += checkPair(config, path, control, "fp32", control.getFp32FalseTrueCount());
        given += checkPair(config, path, control, "bool", control.getBoolFalseTrueCount());
        require(
                given > 0,
                config,
                path,
                "sequence batching must specify either 'int32_false_true', 'fp32_false_true' or 'bool_false_true' for "
                        + control.getKind());
        require(
                given == 1,
                config,
                path,
                "sequence batching specifies more than one from 'int32_false_true', 'fp32_false_true' and"
                        + " 'bool_false_true'"
                        + " for " + control.getKind());
    }

    /** How many of the ways to tell a flag this is: one, or none when it has no entries. */
    private static int checkPair(
            ModelConfig config, ConfigurationPath path, Control control, String type, int entries) {
        require(
                entries == 0 || entries == 2,
                config,
                path,
                "sequence batching control '" + type + "_false_true' must have exactly 2 entries for "
                        + control.getKind());
        return entries == 0 ? 0 : 1;
    }

    private static void checkCorrelationId(ModelConfig config, ConfigurationPath path, Control control) {
        require(
                control.getInt32FalseTrueCount() + control.getFp32FalseTrueCount() + control.getBoolFalseTrueCount()
                        == 0,
                config,
                path,
                "sequence batching must not specify either 'int32_false_true', 'fp32_false_true' or 'bool_false_true'"
                        + " for CONTROL_SEQUENCE_CORRID");
        if (!CORRELATION_ID_TYPES.contains(control.getDataType())) {
            throw new ConfigurationException(
                    path,
                    "unexpected data type for control CONTROL_SEQUENCE_CORRID for " + config.getName()
                            + ". Allowed data types are TYPE_UINT64, TYPE_INT64, TYPE_UINT32, TYPE_INT32 and"
                            + " TYPE_STRING");
        }
    }

    private static void checkStates(ModelConfig config, List<State> states) {
        for (int i = 0; i < states.size(); i++) {
            State state = states.get(i);
            ConfigurationPath path = BATCHING.then("state", Integer.toString(i));
            require(
                    !state.getInputName().isEmpty() && !state.getOutputName().isEmpty(),
                    config,
                    path,
                    "sequence batching state must specify 'input_name' and 'output_name'");
            String subject = "sequence batching state '" + state.getInputName() + "' ";
            TensorRules.checkDatatype(config, path, subject, state.getDataType());
            TensorRules.checkDims(config, path, subject, state.getDimsList());
            require(
                    state.getInitialStateCount() <= 1,
                    config,
                    path.then("initial_state"),
                    subject + "has " + state.getInitialStateCount() + " initial states, expected at most one,");
            require(
                    state.getUseSameBufferForInputOutput() || !state.getUseGrowableMemory(),
                    config,
                    path.then("use_growable_memory"),
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
                    control(control),
                    "model input '" + control.getName() + "' is given twice");
        }
        Set<String> outputs = new HashSet<>();
        for (State state : batching.getStateList()) {
            require(
                    inputs.add(state.getInputName()),
                    config,
                    BATCHING.then("state", state.getInputName()),
                    "model input '" + state.getInputName() + "' is given twice");
            require(
                    outputs.add(state.getOutputName()),
                    config,
                    BATCHING.then("state", state.getInputName()).then("output_name"),
                    "model output '" + state.getOutputName() + "' is the state of two inputs");
        }
    }
}
