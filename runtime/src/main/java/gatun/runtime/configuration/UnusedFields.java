// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelOptimizationPolicy.PinnedMemoryBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;

/**
 * The fields of a configuration that the server gives no meaning, and the consequence of setting one: the configuration
 * is refused where the model would be another one without the field, and otherwise the log says that the field has no
 * effect. An engine may {@linkplain gatun.spi.Backend#configurationFields() use} any of them. All other fields are used.
 */
public final class UnusedFields {
    /** What becomes of a model whose configuration sets a field that its engine does not use. */
    public enum Consequence {
        /** The model is not loaded. */
        REFUSED,
        /** The model is loaded, and the log says that the field changes nothing. */
        WITHOUT_EFFECT
    }

    /** A field without a meaning here. {@code reason} says why, and of a field that is refused what to do. */
    private record Unused(Consequence consequence, String reason) {}

    private static final String TENSORRT = "only TensorRT has that";

    private static final Map<String, Unused> FIELDS = Map.ofEntries(
            refused(
                    "ModelConfig.cc_model_filenames",
                    "files are not chosen by the compute capability of a GPU; name the file in default_model_filename"),
            refused(
                    "ModelConfig.model_operations",
                    "its engine loads no libraries of operators; leave model_operations out"),
            refused("ModelInstanceGroup.passive", "there are no instances that take no requests; leave the group out"),
            refused(
                    "ModelEnsembling.Step.model_namespace",
                    "Triton reserves the field for itself; leave it out: a member is looked for in the ensemble's own"
                            + " repository first"),
            withoutEffect(
                    "ModelConfig.runtime", "it names a library of Triton's; the engines here are the server's own"),
            withoutEffect(
                    "ModelSequenceBatching.StrategyOldest.preserve_ordering",
                    "an instance runs one batch after another, and its responses are in that order anyway"),
            withoutEffect("ModelInstanceGroup.secondary_devices", TENSORRT),
            withoutEffect("ModelInstanceGroup.profile", TENSORRT),
            withoutEffect("ModelInstanceGroup.host_policy", "the server has no --host-policy; see isolation_cores"),
            withoutEffect("ModelOptimizationPolicy.graph", "its engine has one level of optimization"),
            withoutEffect("ModelOptimizationPolicy.priority", "instances have equal priority; see isolation_nice"),
            withoutEffect("ModelOptimizationPolicy.cuda", TENSORRT),
            withoutEffect("ModelOptimizationPolicy.execution_accelerators", "its engine has none"),
            withoutEffect(
                    "ModelOptimizationPolicy.input_pinned_memory",
                    "the server's buffers are pinned where there is a GPU"),
            withoutEffect(
                    "ModelOptimizationPolicy.output_pinned_memory",
                    "the server's buffers are pinned where there is a GPU"),
            withoutEffect("ModelOptimizationPolicy.gather_kernel_buffer_threshold", "batches are gathered by copies"),
            withoutEffect("ModelOptimizationPolicy.eager_batching", "a batch is gathered when it runs"));

    private static Map.Entry<String, Unused> refused(String field, String reason) {
        return Map.entry(field, new Unused(Consequence.REFUSED, reason));
    }

    private static Map.Entry<String, Unused> withoutEffect(String field, String reason) {
        return Map.entry(field, new Unused(Consequence.WITHOUT_EFFECT, reason));
    }

    private final String model;
    private final Set<String> ofEngine;
    private final EngineCatalog engines;
    private final List<String> remarks = new ArrayList<>();

    private UnusedFields(String model, Set<String> ofEngine, EngineCatalog engines) {
        this.model = model;
        this.ofEngine = ofEngine;
        this.engines = engines;
    }

    /** The consequence of each field that the server itself gives no meaning, by message and name. */
    public static Map<String, Consequence> consequences() {
        Map<String, Consequence> consequences = new TreeMap<>();
        FIELDS.forEach((name, unused) -> consequences.put(name, unused.consequence()));
        return consequences;
    }

    /**
     * A line for each field that is set and has no effect, unless the model's engine uses it, as others of {@code
     * engines} may. Throws ConfigurationException for the first that is set and refused.
     */
    public static List<String> remarks(ModelConfig config, Set<String> ofEngine, EngineCatalog engines) {
        UnusedFields fields = new UnusedFields(config.getName(), ofEngine, engines);
        fields.visit(config, ConfigurationPath.MODEL);
        return fields.remarks;
    }

    private void visit(Message message, ConfigurationPath path) {
        message.getAllFields().forEach((field, value) -> {
            if (field.isMapField() || field.getJavaType() == FieldDescriptor.JavaType.MESSAGE || isUnused(field)) {
                visit(field, value, path);
            }
        });
    }

    private boolean isUnused(FieldDescriptor field) {
        return FIELDS.containsKey(name(field)) && !ofEngine.contains(name(field));
    }

    private void visit(FieldDescriptor field, Object value, ConfigurationPath path) {
        if (isUnused(field)) {
            if (!isDefault(value)) {
                check(path.then(field.getName()), name(field));
            }
        } else if (field.isRepeated()) {
            List<?> elements = (List<?>) value;
            for (int i = 0; i < elements.size(); i++) {
                visit((Message) elements.get(i), path.then(field.getName(), Integer.toString(i)));
            }
        } else {
            visit((Message) value, path.then(field.getName()));
        }
    }

    /** Whether a value is what Triton fills in, and clients send back who read a configuration and change a number of it. */
    private static boolean isDefault(Object value) {
        return value instanceof PinnedMemoryBuffer memory && memory.getEnable();
    }

    private void check(ConfigurationPath path, String field) {
        Unused unused = Objects.requireNonNull(FIELDS.get(field));
        List<String> users = engines.usersOf(field);
        switch (unused.consequence()) {
            case REFUSED ->
                throw new ConfigurationException(
                        path,
                        "'" + path + "' of model '" + model + "' is refused: " + unused.reason()
                                + (users.isEmpty() ? "" : ", or use backend " + String.join(" or ", users)));
            case WITHOUT_EFFECT -> remarks.add("'" + path + "' has no effect: " + unused.reason());
        }
    }

    /** The name of a message without its package, and that of a field. */
    private static String name(FieldDescriptor field) {
        String full = field.getFullName();
        return full.substring(full.indexOf('.') + 1);
    }
}
