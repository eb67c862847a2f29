// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import com.google.protobuf.MessageOrBuilder;
import com.google.protobuf.TextFormat;
import gatun.runtime.ModelOverride.OverrideRefusedException;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelInstanceGroup;
import gatun.wire.inference.ModelOptimizationPolicy;
import gatun.wire.inference.ModelParameter;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Decides what the configuration of a load request may say. The fields and parameters on its lists are the request's, as
 * in Triton; a field of them that the request leaves out has its default. Every other field, also one that is added to
 * the format later, keeps the operator's value, whether the request leaves it out or repeats it; another value is
 * refused. So no request chooses a program, a library, an environment, a user, a path or a limit of a process.
 */
public final class RequestedConfiguration {
    /** Fields of a configuration. The name was compared before; the names of files in three of them are looked at. */
    private static final Set<String> FIELDS = Set.of(
            "name",
            "version_policy",
            "max_batch_size",
            "input",
            "output",
            "batch_input",
            "batch_output",
            "dynamic_batching",
            "sequence_batching",
            "ensemble_scheduling",
            "metric_tags",
            "model_warmup",
            "model_transaction_policy",
            "response_cache",
            "model_metrics");

    /** More of them where the request brings the files that they name. */
    private static final Set<String> FIELDS_OF_FILES = Set.of("default_model_filename", "cc_model_filenames");

    /** More of them where the operator's files tell no engine. */
    private static final Set<String> FIELDS_OF_ENGINES = Set.of("platform", "backend");

    private static final Set<String> PARTS = Set.of("optimization", "instance_group", "parameters");

    private static final Set<String> OPTIMIZATION_FIELDS = Set.of(
            "graph",
            "priority",
            "cuda",
            "input_pinned_memory",
            "output_pinned_memory",
            "gather_kernel_buffer_threshold",
            "eager_batching");

    private static final Set<String> INSTANCE_FIELDS = Set.of("name", "kind", "count", "gpus");

    /** Longer values are cut in messages. */
    private static final int SHOWN_LENGTH = 100;

    private RequestedConfiguration() {}

    /**
     * The operator's files of a model: the configuration as written, only a name where there is none, and for each
     * version the same with the engine and the file that its files tell.
     */
    public record Operators(ModelConfig written, List<ModelConfig> told) {
        /** Copies the list. */
        public Operators {
            told = List.copyOf(told);
        }

        /** The files of a model of which there is nothing but its name. */
        public static Operators none(String name) {
            return new Operators(ModelConfig.newBuilder().setName(name).build(), List.of());
        }

        /** Whether these tell which engine runs the model, or that it is an ensemble. */
        public boolean tellEngine() {
            return tellsEngine(written) || told.stream().anyMatch(Operators::tellsEngine);
        }

        private static boolean tellsEngine(ModelConfig config) {
            return !config.getBackend().isEmpty() || !config.getPlatform().isEmpty() || EnsembleRules.apply(config);
        }
    }

    /**
     * The configuration that a request gets, with the operator's parameters. {@code bringsFiles}: it brings the model's
     * files, too. Throws OverrideRefusedException with the first field that is not its to decide.
     */
    public static ModelConfig admit(ModelConfig requested, Operators operators, boolean bringsFiles) {
        ModelConfig own = operators.written();
        Set<String> free = new HashSet<>(FIELDS);
        free.addAll(PARTS);
        if (bringsFiles) {
            free.addAll(FIELDS_OF_FILES);
        }
        if (!operators.tellEngine()) {
            free.addAll(FIELDS_OF_ENGINES);
        }
        String model = requested.getName();
        if (bringsFiles) {
            requireOwnLibraries(own);
        }
        ModelConfig.Builder admitted = requested.toBuilder();
        keep(admitted, own, operators.told(), free, new Place(model, ""));
        if (operators.tellEngine()) {
            keepEnsemble(admitted, operators);
        }
        if (requested.hasOptimization() || own.getOptimization().hasExecutionAccelerators()) {
            ModelOptimizationPolicy.Builder optimization = admitted.getOptimizationBuilder();
            keep(
                    optimization,
                    own.getOptimization(),
                    List.of(),
                    OPTIMIZATION_FIELDS,
                    new Place(model, "optimization."));
        }
        if (!bringsFiles) {
            requireKnownFiles(requested, own);
        }
        admitted.clearInstanceGroup().addAllInstanceGroup(instanceGroups(requested, own));
        return admitted.clearParameters()
                .putAllParameters(own.getParametersMap())
                .build();
    }

    /**
     * Adds the request's parameters to an admitted configuration; {@code names} are those that the engine lets it set.
     * Throws OverrideRefusedException with the first other parameter whose value is not the operator's.
     */
    public static ModelConfig withParameters(ModelConfig admitted, ModelConfig requested, Set<String> names) {
        ModelConfig.Builder config = admitted.toBuilder();
        for (Map.Entry<String, ModelParameter> parameter :
                requested.getParametersMap().entrySet()) {
            if (names.contains(parameter.getKey())) {
                config.putParameters(parameter.getKey(), parameter.getValue());
            } else if (!parameter.getValue().equals(admitted.getParametersMap().get(parameter.getKey()))) {
                throw refused(
                        requested.getName(),
                        "parameter '" + parameter.getKey() + "'",
                        parameter.getValue().getStringValue());
            }
        }
        return config.build();
    }

    /** A message in a model's configuration; {@code prefix} stands before the names of its fields. */
    private record Place(String model, String prefix) {}

    /** Gives every field that is not {@code free} the operator's value. */
    private static void keep(
            Message.Builder admitted, Message own, List<? extends Message> told, Set<String> free, Place place) {
        for (FieldDescriptor field : admitted.getDescriptorForType().getFields()) {
            if (free.contains(field.getName())) {
                continue;
            }
            Message said = only(field, admitted);
            boolean repeated = said.equals(said.getDefaultInstanceForType())
                    || said.equals(only(field, own))
                    || told.stream().anyMatch(version -> said.equals(only(field, version)));
            if (!repeated) {
                throw refused(
                        place.model(),
                        "'" + place.prefix() + field.getName() + "'",
                        TextFormat.printer().emittingSingleLine(true).printToString(said));
            }
            admitted.setField(field, own.getField(field));
            if (field.hasPresence() && !own.hasField(field)) {
                admitted.clearField(field);
            }
        }
    }

    /** A message with nothing but this field of another, which compares maps as maps; an empty message is left out. */
    private static Message only(FieldDescriptor field, MessageOrBuilder of) {
        Message.Builder one = of.getDefaultInstanceForType().newBuilderForType();
        Object value = of.getField(field);
        boolean empty = value instanceof Message message && message.equals(message.getDefaultInstanceForType());
        if (!empty) {
            one.setField(field, value);
        }
        return one.build();
    }

    /** An ensemble stays one, and no other model becomes one: its own engine would be passed over. */
    private static void keepEnsemble(ModelConfig.Builder admitted, Operators operators) {
        ModelConfig own = operators.written();
        if (!EnsembleRules.apply(own) && admitted.hasEnsembleScheduling()) {
            throw refused(admitted.getName(), "'ensemble_scheduling'", "of a model that is no ensemble");
        }
        if (own.hasEnsembleScheduling() && !admitted.hasEnsembleScheduling()) {
            switch (admitted.getSchedulingChoiceCase()) {
                case DYNAMIC_BATCHING -> throw refused(admitted.getName(), "'dynamic_batching'", "of an ensemble");
                case SEQUENCE_BATCHING -> throw refused(admitted.getName(), "'sequence_batching'", "of an ensemble");
                case ENSEMBLE_SCHEDULING, SCHEDULINGCHOICE_NOT_SET ->
                    admitted.setEnsembleScheduling(own.getEnsembleScheduling());
            }
        }
    }

    /** A library of the operator's is one of his files, which the folder of a request does not hold. */
    private static void requireOwnLibraries(ModelConfig own) {
        own.getModelOperations().getOpLibraryFilenameList().stream()
                .filter(name -> !name.startsWith("/"))
                .findFirst()
                .ifPresent(name -> {
                    throw new OverrideRefusedException(
                            own.getName(),
                            "the operator's configuration of model '" + own.getName() + "' names '" + name
                                    + "' in the model's folder as a library of operators, and a request that brings files"
                                    + " brings another folder; have the operator write the library's absolute path into"
                                    + " the model's " + ConfigurationFile.NAME);
                });
    }

    /** Files of labels, warm-ups and initial states are read for clients: from a folder of the operator's, those he names. */
    private static void requireKnownFiles(ModelConfig requested, ModelConfig own) {
        Set<String> known = files(own).map(File::name).collect(Collectors.toSet());
        files(requested)
                .filter(file -> !known.contains(file.name()))
                .findFirst()
                .ifPresent(file -> {
                    throw refused(requested.getName(), "'" + file.field() + "'", file.name());
                });
    }

    /** A file that a configuration names beside the model's own. {@code field} says where it does. */
    private record File(String field, String name) {}

    private static Stream<File> files(ModelConfig config) {
        Stream<File> labels = config.getOutputList().stream()
                .map(output -> new File("output.label_filename", output.getLabelFilename()));
        Stream<File> warmUps = config.getModelWarmupList().stream()
                .flatMap(sample -> sample.getInputsMap().values().stream())
                .map(input -> new File("model_warmup.inputs.input_data_file", input.getInputDataFile()));
        Stream<File> states = config.getSequenceBatching().getStateList().stream()
                .flatMap(state -> state.getInitialStateList().stream())
                .map(state -> new File("sequence_batching.state.initial_state.data_file", state.getDataFile()));
        return Stream.of(labels, warmUps, states).flatMap(files -> files).filter(file -> !file.name()
                .isEmpty());
    }

    /** The request's groups, each with what the operator's group of its place has beside number and devices. */
    private static List<ModelInstanceGroup> instanceGroups(ModelConfig requested, ModelConfig own) {
        List<ModelInstanceGroup> groups = new ArrayList<>();
        for (int i = 0; i < requested.getInstanceGroupCount(); i++) {
            int last = own.getInstanceGroupCount() - 1;
            ModelInstanceGroup kept =
                    last < 0 ? ModelInstanceGroup.getDefaultInstance() : own.getInstanceGroup(Math.min(i, last));
            ModelInstanceGroup.Builder group = requested.getInstanceGroup(i).toBuilder();
            Place place = new Place(requested.getName(), "instance_group[" + i + "].");
            keep(group, kept, List.of(), INSTANCE_FIELDS, place);
            groups.add(group.build());
        }
        boolean limited = own.getInstanceGroupList().stream().anyMatch(RequestedConfiguration::isLimited);
        return groups.isEmpty() && limited ? own.getInstanceGroupList() : groups;
    }

    private static boolean isLimited(ModelInstanceGroup group) {
        return group.getAllFields().keySet().stream().anyMatch(field -> !INSTANCE_FIELDS.contains(field.getName()));
    }

    private static OverrideRefusedException refused(String model, String subject, String value) {
        String shown = value.length() > SHOWN_LENGTH ? value.substring(0, SHOWN_LENGTH) + "..." : value;
        return new OverrideRefusedException(
                model,
                subject + " of the request's configuration is <" + shown.strip()
                        + ">, which the operator's is not, and only the operator decides it; leave it out of the"
                        + " request, or have the operator write it into the model's " + ConfigurationFile.NAME);
    }
}
