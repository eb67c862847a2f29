// SPDX-License-Identifier: Apache-2.0
package gatun.http.metrics;

import gatun.memory.tensor.GatunException;
import gatun.runtime.ModelIdentifier;
import gatun.runtime.server.InferenceServer;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * The labels of a model version's metrics: its name, its number, its
 * namespace if it has one, and one for each of its configuration's
 * {@code metric_tags}, with {@code _} in front of the tag's name, as in Triton. Safe for any thread.
 */
final class ModelLabels {
    /** The characters that must not stand in the name of a label. */
    private static final Pattern FOREIGN = Pattern.compile("[^a-zA-Z0-9_]");

    /** The labels that every version has; most have no other. */
    private static final String[] PLAIN = {"model", "version"};

    private final InferenceServer server;

    ModelLabels(InferenceServer server) {
        this.server = server;
    }

    /** The labels of a version that is ready, or was a moment ago: then without its tags. */
    Labels of(ModelIdentifier model, String version) {
        Map<String, String> tags = tags(model, version);
        if (tags.isEmpty() && model.namespace().isEmpty()) {
            return Labels.of(PLAIN, model.name(), version);
        }
        Map<String, String> labels = new TreeMap<>();
        labels.put("model", model.name());
        labels.put("version", version);
        if (!model.namespace().isEmpty()) {
            labels.put("namespace", model.namespace());
        }
        // In the order of their names, so that of two tags which differ in foreign characters only, it is always the
        // same one that is shown.
        new TreeMap<>(tags).forEach((tag, value) -> labels.putIfAbsent(label(tag), value));
        return Labels.of(labels);
    }

    /** Names that begin with two of {@code _} are Prometheus' own. */
    private static String label(String tag) {
        int begin = 0;
        while (begin < tag.length() && tag.charAt(begin) == '_') {
            begin++;
        }
        return "_" + FOREIGN.matcher(tag.substring(begin)).replaceAll("_");
    }

    private Map<String, String> tags(ModelIdentifier model, String version) {
        try {
            return server.model(model, version).config().getMetricTagsMap();
        } catch (GatunException gone) {
            return Map.of();
        }
    }
}
