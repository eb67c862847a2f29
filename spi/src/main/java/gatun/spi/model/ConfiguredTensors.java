// SPDX-License-Identifier: Apache-2.0
package gatun.spi.model;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.spi.Datatypes;
import gatun.spi.EntryTensor;
import java.util.List;
import java.util.stream.Collectors;

/** Compares tensors of a configuration with those that a model file describes. Immutable. */
public final class ConfiguredTensors {
    private final String modelName;
    private final String kind;
    private final List<EntryTensor> tensors;

    /** Tensors of a model file; {@code kind} is "input" or "output", for messages. */
    public ConfiguredTensors(String modelName, String kind, List<EntryTensor> tensors) {
        this.modelName = modelName;
        this.kind = kind;
        this.tensors = List.copyOf(tensors);
    }

    /** The tensor of this name. Throws ConfigurationException when there is none, or it is of another datatype. */
    public EntryTensor find(String name, Datatype datatype) {
        EntryTensor tensor = tensors.stream()
                .filter(candidate -> candidate.spec().name().equals(name))
                .findFirst()
                .orElseThrow(() -> new ConfigurationException(
                        path(name),
                        "unexpected inference " + kind + " '" + name + "', allowed " + kind + "s are: " + names()));
        Datatype actual = tensor.spec().datatype();
        if (actual == Datatype.INVALID) {
            throw new ConfigurationException(
                    path(name).then("data_type"),
                    "the model file gives " + kind + " '" + name + "' a datatype that no protocol can carry");
        }
        if (actual != datatype) {
            throw new ConfigurationException(
                    path(name).then("data_type"),
                    "unable to load model '" + modelName
                            + "', configuration expects datatype " + Datatypes.configured(datatype) + " for " + kind
                            + " '"
                            + name + "', model provides " + Datatypes.configured(actual));
        }
        return tensor;
    }

    /** The place of a tensor in the configuration. */
    public ConfigurationPath path(String name) {
        return ConfigurationPath.of(kind, name);
    }

    /** The names of the model's tensors, in order, for messages. */
    public String names() {
        return tensors.stream().map(tensor -> tensor.spec().name()).sorted().collect(Collectors.joining(", "));
    }

    /** Whether tensors of the one shape may have the other, either of which may have variable dimensions. */
    public static boolean areCompatible(Shape configured, Shape actual) {
        boolean same = configured.rank() == actual.rank();
        for (int i = 0; same && i < actual.rank(); i++) {
            long a = configured.dim(i);
            long b = actual.dim(i);
            same = a == b || a == Shape.VARIABLE || b == Shape.VARIABLE;
        }
        return same;
    }
}
