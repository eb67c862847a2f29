// SPDX-License-Identifier: Apache-2.0
package gatun.it.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/**
 * A folder of {@code examples} whose {@code models} an engine's own Python has run: what it answered is in {@code expected},
 * as JSON.
 *
 * @param folder of both
 */
public record ExampleModels(Path folder) {
    /** The examples of that name. */
    public static ExampleModels of(String name) {
        return new ExampleModels(ServerProcess.root().resolve("examples").resolve(name));
    }

    /** The repository. */
    public Path models() {
        return folder.resolve("models");
    }

    /** Serves them, and those in a repository of the test of which some may be broken. Clients may register shared memory. */
    public ServerProcess serve(Path own, String... flags) throws InterruptedException {
        List<String> all = new ArrayList<>(
                List.of("--model-repository=" + own, "--exit-on-error=false", "--allow-client-shm=true"));
        all.addAll(List.of(flags));
        return ServerProcess.launch(models(), all.toArray(String[]::new));
    }

    /** The names of all models. */
    public List<String> names() throws IOException {
        try (var models = Files.list(models())) {
            return models.map(model -> model.getFileName().toString()).sorted().toList();
        }
    }

    /** The file of a model's only version; weights beside it are another. */
    public Path file(String model) throws IOException {
        try (var files = Files.list(models().resolve(model).resolve("1"))) {
            return files.filter(file -> !file.toString().endsWith(".safetensors"))
                    .findFirst()
                    .orElseThrow();
        }
    }

    /** The maps, lists, numbers and texts of a file of {@code expected}. */
    public Object expected(String name) throws IOException {
        String text = Files.readString(folder.resolve("expected").resolve(name + ".json"));
        return Objects.requireNonNull(new Load(LoadSettings.builder().build()).loadFromString(text));
    }

    /** Makes the folder of the only version of a model that a test has in a repository of its own. */
    public static Path version(Path repository, String model) throws IOException {
        return Files.createDirectories(repository.resolve(model).resolve("1"));
    }

    /**
     * Puts a model into a repository of a test under another name.
     *
     * @param config its configuration; empty for none
     */
    public void copy(String example, Path repository, String model, String config) throws IOException {
        Path file = file(example);
        Files.copy(file, version(repository, model).resolve(file.getFileName()));
        configure(repository, model, config);
    }

    /** Writes the configuration of a model in a repository of a test, unless it is empty. */
    public static void configure(Path repository, String model, String config) throws IOException {
        if (!config.isEmpty()) {
            Files.writeString(repository.resolve(model).resolve("config.pbtxt"), config);
        }
    }
}
