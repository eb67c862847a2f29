// SPDX-License-Identifier: Apache-2.0
package gatun.backend.identity;

import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.spi.Execution;
import gatun.spi.ExecutionRequest;
import gatun.wire.inference.ModelConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * What a model notes in the traces of its requests, under the names that tests of Triton look for: a single activity, a
 * span, and spans within each other.
 *
 * @param names in their order; none where traces are to have nothing of the model's own
 */
record TracedActivities(List<String> names) {
    private static final String ENABLED = "enable_custom_tracing";
    private static final String NESTED = "nested_span_count";
    private static final String FREQUENCY = "single_activity_frequency";

    /** What these are told by. */
    static final Set<String> PARAMETERS = Set.of(ENABLED, NESTED, FREQUENCY);

    private static final int MOST_NESTED = 1000;
    private static final String SINGLE = "CUSTOM_SINGLE_ACTIVITY";
    private static final String SPAN = "CUSTOM_ACTIVITY";

    /**
     * What the parameters of a model say.
     *
     * @throws ConfigurationException when one of them is no number, or out of bounds
     */
    static TracedActivities of(ModelConfig config) {
        if (!"true".equals(text(config, ENABLED, "false"))) {
            return new TracedActivities(List.of());
        }
        int nested = number(config, NESTED, 0, 0);
        int frequency = number(config, FREQUENCY, 1, 1);
        List<String> names = new ArrayList<>(List.of(SINGLE, SPAN + "_START", SPAN + "_END"));
        for (int i = 0; i < nested; i++) {
            names.add(SPAN + i + "_START");
            if (i % frequency == 0) {
                names.add(SINGLE);
            }
        }
        for (int i = nested - 1; i >= 0; i--) {
            names.add(SPAN + i + "_END");
        }
        return new TracedActivities(List.copyOf(names));
    }

    private static int number(ModelConfig config, String parameter, int least, int otherwise) {
        String text = text(config, parameter, Integer.toString(otherwise));
        try {
            int number = Integer.parseInt(text);
            if (number >= least && number <= MOST_NESTED) {
                return number;
            }
        } catch (NumberFormatException e) {
            throw wrong(parameter, text, least);
        }
        throw wrong(parameter, text, least);
    }

    private static ConfigurationException wrong(String parameter, String text, int least) {
        return new ConfigurationException(
                ConfigurationPath.ofParameter(parameter),
                "parameter '" + parameter + "' is '" + text + "', expected a number from " + least + " to "
                        + MOST_NESTED);
    }

    private static String text(ModelConfig config, String parameter, String otherwise) {
        return config.containsParameters(parameter)
                ? config.getParametersOrThrow(parameter).getStringValue()
                : otherwise;
    }

    /** Notes them in the traces of the requests of a run. */
    void tell(Execution execution) {
        if (names.isEmpty()) {
            return;
        }
        for (ExecutionRequest request : execution.requests()) {
            names.forEach(request::traceActivity);
        }
    }
}
