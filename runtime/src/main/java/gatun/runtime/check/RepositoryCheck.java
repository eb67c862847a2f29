// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.check;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.TextFormat;
import com.google.protobuf.util.JsonFormat;
import gatun.memory.tensor.GatunException;
import gatun.runtime.ControlMode;
import gatun.runtime.ModelOverride;
import gatun.runtime.ModelState;
import gatun.runtime.ModelStatus;
import gatun.runtime.ModelVersion;
import gatun.runtime.server.GatunServer;
import gatun.runtime.server.ServerOptions;
import gatun.wire.inference.ModelConfig;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/**
 * Finds out which models of a repository would be served, and what is wrong with the others. Each model is really
 * loaded, with its engine and its warm-up, one after another, and unloaded again: a model without problems here will
 * start. For one thread.
 */
public final class RepositoryCheck implements AutoCloseable {
    /** Words of problems with tensors, of which a model's file can tell more than its configuration. */
    private static final Pattern ABOUT_TENSORS =
            Pattern.compile("input|output|tensor|max_batch_size|shape|dimension|datatype");

    private final GatunServer server;
    private final ConfigurationPlaces places;

    private RepositoryCheck(GatunServer server, ConfigurationPlaces places) {
        this.server = server;
        this.places = places;
    }

    /**
     * A check of {@code repositories}; nothing is loaded yet.
     *
     * @param options how a server would be opened, without its repositories
     * @param configName the name of the configurations that count instead of config.pbtxt where they exist; empty for
     *     none
     * @throws GatunException when a repository cannot be read
     */
    public static RepositoryCheck open(ServerOptions options, List<Path> repositories, String configName) {
        repositories.forEach(options::repository);
        options.configName(configName).controlMode(ControlMode.EXPLICIT).onlyModels(List.of());
        return new RepositoryCheck(GatunServer.open(options), new ConfigurationPlaces(repositories, configName));
    }

    /** The names of the models that are there. */
    public Set<String> models() {
        Set<String> names = new LinkedHashSet<>();
        server.index().forEach(model -> names.add(model.name()));
        return names;
    }

    /** Checks every model whose name is {@code wanted}, and shows each report when it is made. */
    public void run(Predicate<String> wanted, Consumer<ModelReport> each) {
        models().stream().filter(wanted).forEach(name -> each.accept(check(name)));
    }

    private ModelReport check(String name) {
        Optional<String> failure = load(name, ModelOverride.NONE);
        try {
            List<ModelStatus> versions = server.index().stream()
                    .filter(model -> model.name().equals(name))
                    .toList();
            List<String> ready = versions.stream()
                    .filter(model -> model.state() == ModelState.READY)
                    .map(ModelStatus::version)
                    .toList();
            Optional<ModelVersion> served =
                    ready.isEmpty() ? Optional.empty() : Optional.of(server.model(name, ready.getLast()));
            Set<String> reasons = new LinkedHashSet<>();
            versions.stream()
                    .filter(ModelStatus::isFailed)
                    .map(ModelStatus::reason)
                    .forEach(reasons::add);
            if (reasons.isEmpty() && ready.isEmpty()) {
                failure.ifPresent(reasons::add);
            }
            List<Problem> problems = places.problems(name, reasons);
            return new ModelReport(
                    name,
                    ready,
                    served.map(ModelVersion::config),
                    served.map(ModelVersion::choices).orElse(List.of()),
                    reasons.isEmpty() ? List.of() : described(name, problems));
        } finally {
            server.unload(name, true);
        }
    }

    /** Adds the tensors as the model's file describes them, where a problem is about tensors. */
    private List<Problem> described(String name, List<Problem> problems) {
        if (problems.stream()
                .noneMatch(problem -> ABOUT_TENSORS.matcher(problem.text()).find())) {
            return problems;
        }
        Optional<String> tensors = places.written(name).flatMap(written -> tensorsOfFile(name, written));
        if (tensors.isEmpty()) {
            return problems;
        }
        List<Problem> described = new ArrayList<>(problems);
        Problem last = described.removeLast();
        String before = last.advice().isEmpty() ? "" : last.advice() + "\n";
        described.add(new Problem(
                last.file(),
                last.position(),
                last.text(),
                before + "the model's own file says:\n"
                        + tensors.get().indent(2).stripTrailing()));
        return described;
    }

    /** The tensors of a model as its file alone tells them, as they would stand in config.pbtxt. */
    private Optional<String> tensorsOfFile(String name, ModelConfig written) {
        if (written.hasEnsembleScheduling()) {
            return Optional.empty();
        }
        ModelConfig bare = ModelConfig.newBuilder()
                .setName(name)
                .setBackend(written.getBackend())
                .setPlatform(written.getPlatform())
                .setDefaultModelFilename(written.getDefaultModelFilename())
                .build();
        try {
            String json = JsonFormat.printer().preservingProtoFieldNames().print(bare);
            if (load(name, new ModelOverride(json, Map.of())).isPresent()) {
                return Optional.empty();
            }
            ModelConfig config = server.model(name, "").config();
            return Optional.of(TextFormat.printer()
                            .printToString(ModelConfig.newBuilder()
                                    .setMaxBatchSize(config.getMaxBatchSize())
                                    .addAllInput(config.getInputList())
                                    .addAllOutput(config.getOutputList())
                                    .build()))
                    .filter(text -> !text.isBlank());
        } catch (GatunException | InvalidProtocolBufferException e) {
            return Optional.empty(); // It cannot be told; the problem stands without it.
        }
    }

    /** Loads a model; returns why that failed, and empty when it did not. */
    private Optional<String> load(String name, ModelOverride override) {
        try {
            server.load(name, override);
            return Optional.empty();
        } catch (GatunException e) {
            return Optional.of(e.getMessage());
        }
    }

    /** Unloads what is loaded, and gives the engines back. */
    @Override
    public void close() {
        server.close();
    }
}
