// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.check;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.TextFormat;
import com.google.protobuf.util.JsonFormat;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.ControlMode;
import gatun.runtime.ModelIdentifier;
import gatun.runtime.ModelLoadException;
import gatun.runtime.ModelOverride;
import gatun.runtime.ModelVersion;
import gatun.runtime.ServedPath;
import gatun.runtime.check.ModelReport.Problem;
import gatun.runtime.server.GatunServer;
import gatun.runtime.server.ServerOptions;
import gatun.spi.ConfigurationException;
import gatun.spi.MemoryUse;
import gatun.wire.inference.ModelConfig;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Finds out which models of a repository would be served, and what is wrong with the others. Each model is really
 * loaded, with its engine and its warm-up, one after another, and unloaded again: a model without problems here will
 * start. For one thread.
 */
public final class RepositoryCheck implements AutoCloseable {
    /** Fields of a configuration that a model's file knows better. */
    private static final List<String> TENSOR_FIELDS = List.of("input", "output", "max_batch_size");

    private final GatunServer server;
    private final List<ServedPath> paths;
    private final String configName;

    private RepositoryCheck(GatunServer server, List<ServedPath> paths, String configName) {
        this.server = server;
        this.paths = List.copyOf(paths);
        this.configName = configName;
    }

    /**
     * A check of the models at {@code paths}; nothing is loaded yet.
     *
     * @param options how a server would be opened, without its repositories, with {@code configName}
     * @param configName the name of the configurations that count instead of config.pbtxt where they exist; empty for
     *     none
     * @throws GatunException when a repository cannot be read
     */
    public static RepositoryCheck open(ServerOptions options, List<ServedPath> paths, String configName) {
        paths.forEach(options::path);
        options.controlMode(ControlMode.EXPLICIT).onlyModels(List.of());
        return new RepositoryCheck(GatunServer.open(options), paths, configName);
    }

    /** The names of the models that are there. */
    public Set<String> models() {
        Set<String> names = new LinkedHashSet<>();
        server.models().forEach(model -> names.add(model.name()));
        return names;
    }

    /** Checks every model whose name is {@code wanted}, and shows each report when it is made. */
    public void run(Predicate<String> wanted, Consumer<ModelReport> each) {
        server.models().stream().filter(model -> wanted.test(model.name())).forEach(model -> each.accept(check(model)));
    }

    private ModelReport check(ModelIdentifier model) {
        List<GatunException> failures = load(model, ModelOverride.NONE);
        try {
            List<? extends ModelVersion> ready = server.readyVersions(model);
            Optional<ModelVersion> served = ready.isEmpty() ? Optional.empty() : Optional.of(ready.getLast());
            return new ModelReport(
                    model,
                    ready.stream().map(ModelVersion::versionText).toList(),
                    served.map(ModelVersion::config),
                    served.map(ModelVersion::choices).orElse(List.of()),
                    served.map(RepositoryCheck::memory).orElse(List.of()),
                    served.flatMap(ModelVersion::unbatched),
                    failures.isEmpty() ? List.of() : problems(model, failures));
        } finally {
            server.unload(model, true);
        }
    }

    private static List<String> memory(ModelVersion model) {
        List<String> lines = new ArrayList<>();
        model.inputs().forEach(input -> lines.add(line("input", input, model.inputMemory(input.name()))));
        model.outputs().forEach(output -> lines.add(line("output", output, model.outputMemory(output.name()))));
        return lines;
    }

    private static String line(String kind, TensorSpec tensor, MemoryUse use) {
        String reason = use.reason().isEmpty() ? "" : ": " + use.reason();
        return kind + " '" + tensor.name() + "' in shared memory: " + (use.isInPlace() ? "in place" : "copied")
                + reason;
    }

    /** The problems behind {@code failures}, with what the model's file says where one is about tensors. */
    private List<Problem> problems(ModelIdentifier model, List<GatunException> failures) {
        ModelFolder folder = ModelFolder.of(model, paths, configName);
        List<Problem> problems = new ArrayList<>(folder.problems(server.engineCatalog(), failures));
        if (failures.stream().anyMatch(RepositoryCheck::isAboutTensors)) {
            folder.written().flatMap(written -> tensorsOfFile(model, written)).ifPresent(tensors -> {
                String advice =
                        "the model's own file says:\n" + tensors.indent(2).stripTrailing();
                problems.add(problems.removeLast().with(advice));
            });
        }
        return problems;
    }

    private static boolean isAboutTensors(GatunException failure) {
        return failure instanceof ConfigurationException mistake
                && TENSOR_FIELDS.stream().anyMatch(mistake.path()::isIn);
    }

    private Optional<String> tensorsOfFile(ModelIdentifier model, ModelConfig written) {
        if (written.hasEnsembleScheduling()) {
            return Optional.empty();
        }
        ModelConfig bare = ModelConfig.newBuilder()
                .setName(model.name())
                .setBackend(written.getBackend())
                .setPlatform(written.getPlatform())
                .setDefaultModelFilename(written.getDefaultModelFilename())
                .build();
        try {
            String json = JsonFormat.printer().preservingProtoFieldNames().print(bare);
            if (!load(model, new ModelOverride(json, Map.of())).isEmpty()) {
                return Optional.empty();
            }
            ModelConfig config = server.model(model, "").config();
            return Optional.of(TextFormat.printer()
                            .printToString(ModelConfig.newBuilder()
                                    .setMaxBatchSize(config.getMaxBatchSize())
                                    .addAllInput(config.getInputList())
                                    .addAllOutput(config.getOutputList())
                                    .build()))
                    .filter(text -> !text.isBlank());
        } catch (GatunException | InvalidProtocolBufferException e) {
            return Optional.empty(); // The problem stands without it.
        }
    }

    /** Loads a model; returns the reasons why that failed. */
    private List<GatunException> load(ModelIdentifier model, ModelOverride override) {
        try {
            server.load(model, override);
            return List.of();
        } catch (ModelLoadException e) {
            return e.reasons();
        } catch (GatunException e) {
            return List.of(e);
        }
    }

    /** Unloads what is loaded, and gives the engines back. */
    @Override
    public void close() {
        server.close();
    }
}
