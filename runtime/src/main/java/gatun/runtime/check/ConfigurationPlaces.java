// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.check;

import com.google.protobuf.TextFormat;
import gatun.memory.tensor.GatunException;
import gatun.runtime.check.Problem.Position;
import gatun.runtime.configuration.ConfigurationFile;
import gatun.runtime.configuration.ConfigurationProblems;
import gatun.wire.inference.ModelConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Finds the places in models' configurations that keep the models from being loaded. Reads the files anew each time.
 */
final class ConfigurationPlaces {
    /** How the messages of a configuration's reader about a file that it cannot read begin. */
    private static final Pattern PLACED =
            Pattern.compile("(?<file>[^/: ]+\\.pbtxt):(?<line>\\d+):(?<column>\\d+): (?<text>.*)");

    /** How the parser lists the fields that it does not know. */
    private static final Pattern UNKNOWN_FIELD =
            Pattern.compile("(?<line>\\d+):(?<column>\\d+):\\tinference\\.(?<message>[\\w.]+)\\.(?<field>\\w+)");

    private final List<Path> repositories;
    private final String configName;

    ConfigurationPlaces(List<Path> repositories, String configName) {
        this.repositories = List.copyOf(repositories);
        this.configName = configName;
    }

    /** A model's configuration as it is written; empty when there is none that can be read. */
    Optional<ModelConfig> written(String model) {
        try {
            return Optional.of(ConfigurationFile.read(file(model)));
        } catch (GatunException e) {
            return Optional.empty();
        }
    }

    /**
     * The problems of a model that cannot be loaded for these reasons, and what else is wrong with its configuration.
     */
    List<Problem> problems(String model, Collection<String> reasons) {
        Path file = file(model);
        Optional<String> text = text(file);
        Optional<ConfigurationText> places = text.map(ConfigurationText::of);
        List<Problem> problems = new ArrayList<>();
        for (String reason : withOthers(model, reasons)) {
            Matcher placed = PLACED.matcher(reason);
            if (!placed.find()) {
                Optional<Position> position = places.flatMap(found -> ProblemPlace.of(found, reason));
                Path where = position.isPresent() ? file : directory(model);
                problems.add(new Problem(where, position, reason, Advice.to(reason)));
                continue;
            }
            List<Problem> unknown = text.map(read -> unknownFields(file, read)).orElse(List.of());
            if (unknown.isEmpty()) {
                problems.add(new Problem(
                        file, Optional.of(position(placed)), placed.group("text"), Advice.to(placed.group("text"))));
            }
            problems.addAll(unknown);
        }
        return problems;
    }

    /**
     * Adds the other rules that the configuration breaks, where a reason is such a rule: loading reported only the
     * first.
     */
    private Set<String> withOthers(String model, Collection<String> reasons) {
        Set<String> all = new LinkedHashSet<>(reasons);
        List<String> broken = written(model)
                .map(config -> config.toBuilder().setName(model).build())
                .map(ConfigurationProblems::of)
                .orElse(List.of());
        if (broken.stream().anyMatch(reasons::contains)) {
            all.addAll(broken);
        }
        return all;
    }

    private static List<Problem> unknownFields(Path file, String text) {
        try {
            TextFormat.Parser.newBuilder().build().merge(text, ModelConfig.newBuilder());
            return List.of();
        } catch (TextFormat.ParseException e) {
            return UNKNOWN_FIELD
                    .matcher(String.valueOf(e.getMessage()))
                    .results()
                    .map(found -> {
                        String problem = "unknown field '" + found.group("field") + "' in " + found.group("message");
                        Position position = new Position(
                                Integer.parseInt(found.group("line")), Integer.parseInt(found.group("column")));
                        return new Problem(file, Optional.of(position), problem, Advice.to(problem));
                    })
                    .toList();
        }
    }

    private static Position position(Matcher placed) {
        return new Position(Integer.parseInt(placed.group("line")), Integer.parseInt(placed.group("column")));
    }

    private static Optional<String> text(Path file) {
        try {
            return Optional.of(Files.readString(file));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private Path file(String model) {
        Path directory = directory(model);
        Path named = directory.resolve(ConfigurationFile.FOLDER).resolve(configName + ".pbtxt");
        return !configName.isEmpty() && Files.exists(named) ? named : directory.resolve(ConfigurationFile.NAME);
    }

    private Path directory(String model) {
        return repositories.stream()
                .map(repository -> repository.resolve(model))
                .filter(Files::isDirectory)
                .findFirst()
                .orElseGet(() -> repositories.getFirst().resolve(model));
    }
}
