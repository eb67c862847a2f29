// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.check;

import gatun.runtime.check.ConfigurationText.Node;
import gatun.runtime.check.Problem.Position;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Finds the place that a text about a configuration is about. The texts are the server's own, most of them laid down by
 * the protocol: they quote fields and names, and use the fields' words.
 */
final class ProblemPlace {
    private static final Pattern QUOTED = Pattern.compile("'([^']*)'");
    private static final Pattern WORD = Pattern.compile("[a-z0-9]+");
    /** Fields that name an element; a text about the element quotes their values. */
    private static final List<String> NAMES = List.of("name", "model_name", "key", "input_name", "target_name");
    /** How texts speak of fields that are called otherwise. */
    private static final Map<String, String> OTHER_WORDS =
            Map.of("dimension", "dims", "dimensions", "dims", "shape", "dims", "datatype", "data type");
    /** How much of a field's words has to stand in a text that is about the field. */
    private static final double ENOUGH = 0.6;

    private ProblemPlace() {}

    /** The place in {@code configuration} that {@code problem} is about; empty when it cannot be told. */
    static Optional<Position> of(ConfigurationText configuration, String problem) {
        List<String> quoted =
                QUOTED.matcher(problem).results().map(match -> match.group(1)).toList();
        Set<String> words = WORD.matcher(problem.toLowerCase(Locale.ROOT).replace('_', ' '))
                .results()
                .map(MatchResult::group)
                .flatMap(word -> Stream.of((word + " " + OTHER_WORDS.getOrDefault(word, "")).split(" ", -1)))
                .collect(Collectors.toSet());
        Optional<Node> element = configuration.nodes().stream()
                .filter(node -> node.depth() == 0 || !node.fields().isEmpty())
                .filter(node -> NAMES.stream()
                        .flatMap(name -> node.child(name).stream())
                        .anyMatch(name -> quoted.contains(name.value())))
                .max(Comparator.comparingInt(node -> words.contains(node.field()) ? 1 : 0));
        Optional<Node> place = element.map(node -> best(node.fields(), quoted, words)
                        .filter(field -> !NAMES.contains(field.field()))
                        .orElse(node))
                .or(() -> best(configuration.nodes(), quoted, words));
        return place.map(Node::position);
    }

    /** Of {@code nodes} the one that is spoken of most; the deeper one where that is equal, and then the first. */
    private static Optional<Node> best(List<Node> nodes, List<String> quoted, Set<String> words) {
        Node best = null;
        int bestScore = 0;
        for (Node node : nodes) {
            int score = 10 * score(node, quoted, words) + node.depth();
            if (score >= 10 && score > bestScore) {
                best = node;
                bestScore = score;
            }
        }
        return Optional.ofNullable(best);
    }

    /** How much a text speaks of a field: by its name, by its words, or by its value. */
    private static int score(Node node, List<String> quoted, Set<String> words) {
        if (quoted.contains(node.field())) {
            return 100;
        }
        String[] parts = node.field().split("_", -1);
        int said = (int) Arrays.stream(parts).filter(words::contains).count();
        if (said < Math.ceil(ENOUGH * parts.length)) {
            return 0;
        }
        boolean value = !node.value().isEmpty()
                && words.containsAll(
                        List.of(node.value().toLowerCase(Locale.ROOT).split("_", -1)));
        return said + (value ? 1 : 0);
    }
}
