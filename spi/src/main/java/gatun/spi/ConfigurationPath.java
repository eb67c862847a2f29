// SPDX-License-Identifier: Apache-2.0
package gatun.spi;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * A place in a model's configuration, such as {@code input[INPUT0].dims}: fields by their names in
 * {@code model_config.proto}, and elements of lists and maps. Need not exist, since a missing field is a mistake too.
 * Immutable.
 *
 * @param steps from the configuration inwards; none for the model as a whole
 */
public record ConfigurationPath(List<Step> steps) {
    /** A field, or one of its elements: by name or key, or by number from 0 if it has none; empty for the field. */
    public record Step(String field, String element) {}

    /** The model as a whole: its folder rather than a line of its configuration. */
    public static final ConfigurationPath MODEL = new ConfigurationPath(List.of());

    /** Copies the list. */
    public ConfigurationPath {
        steps = List.copyOf(steps);
    }

    /** A field of the configuration. */
    public static ConfigurationPath of(String field) {
        return MODEL.then(field);
    }

    /** An element of a field of the configuration, by its name. */
    public static ConfigurationPath of(String field, String element) {
        return MODEL.then(field, element);
    }

    /** An element of a field of the configuration, by its number from 0. */
    public static ConfigurationPath of(String field, int index) {
        return MODEL.then(field, Integer.toString(index));
    }

    /** The value of an entry of {@code parameters}. */
    public static ConfigurationPath ofParameter(String key) {
        return of("parameters", key);
    }

    /** A field of the message at this place. */
    public ConfigurationPath then(String field) {
        return then(field, "");
    }

    /** An element of a field of the message at this place, by its name or its number from 0. */
    public ConfigurationPath then(String field, String element) {
        List<Step> longer = new ArrayList<>(steps);
        longer.add(new Step(field, element));
        return new ConfigurationPath(longer);
    }

    /** Whether this is the field, or lies in it. */
    public boolean isIn(String field) {
        return !steps.isEmpty() && steps.getFirst().field().equals(field);
    }

    /**
     * Reads or checks what is at this place.
     *
     * @param reading fails with INVALID_ARGUMENT where that is wrong
     * @throws ConfigurationException with this place, for such a failure that names none
     */
    public <T> T locate(Supplier<T> reading) {
        try {
            return reading.get();
        } catch (ConfigurationException e) {
            throw e;
        } catch (GatunException e) {
            throw e.code() == ErrorCode.INVALID_ARGUMENT ? new ConfigurationException(this, e.getMessage()) : e;
        }
    }

    /** As messages show it. */
    @Override
    public String toString() {
        return steps.stream()
                .map(step -> step.field() + (step.element().isEmpty() ? "" : "[" + step.element() + "]"))
                .collect(Collectors.joining("."));
    }
}
