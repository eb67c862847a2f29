// SPDX-License-Identifier: Apache-2.0
package gatun.server.layout;

import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.IoFailure;
import gatun.runtime.ModelIdentifier;
import gatun.runtime.ServedPath;
import gatun.runtime.ServedPath.LooseModel;
import gatun.runtime.ServedPath.ModelFolder;
import gatun.runtime.ServedPath.Repository;
import gatun.runtime.check.ModelReport;
import gatun.runtime.configuration.ConfigurationFile;
import gatun.runtime.configuration.EngineCatalog;
import gatun.runtime.logging.LogSettings;
import gatun.runtime.repository.ServedPaths;
import gatun.server.check.CheckReport;
import gatun.server.check.Checking;
import gatun.server.logging.Log;
import gatun.server.settings.CheckSettings;
import gatun.spi.discovery.InstalledBackends;
import gatun.wire.inference.ModelConfig;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** One {@code gatun init}: a loose model becomes a repository's, with its completed configuration, or nothing. */
public final class ModelLayout {
    /** The model is laid out, and a server would serve it. */
    private static final int DONE = 0;

    /** No server would serve the model. */
    private static final int BAD = 1;

    /** The model, its name, or the repository is none that can be used. */
    private static final int WRONG = 2;

    /** A folder with such a name is no model to a server that watches the repository. */
    private static final String STAGING = ".gatun-init-";

    private static final String VERSION = "1";

    private final LayoutSettings settings;
    private final EngineCatalog engines;
    private final PrintWriter out;

    private ModelLayout(LayoutSettings settings, EngineCatalog engines, PrintWriter out) {
        this.settings = settings;
        this.engines = engines;
        this.out = out;
    }

    /** The request of the caller cannot be fulfilled. */
    private static final class WrongRequest extends Exception {
        private static final long serialVersionUID = 1;

        WrongRequest(String text) {
            super(text);
        }
    }

    /**
     * Lays out the model, and prints to {@code err} what is wrong with the settings. Returns 0; 1 when the model cannot
     * be served; 2 when there is no such model or no place for it.
     */
    public static int run(LayoutSettings settings, PrintWriter out, PrintWriter err) {
        Log.install(LogSettings.standard().withInfo(false));
        try (InstalledBackends installed = InstalledBackends.find(settings.backendDirectory())) {
            return new ModelLayout(settings, new EngineCatalog(installed.all()), out).run();
        } catch (WrongRequest | GatunException e) {
            err.println("gatun: " + e.getMessage());
            return WRONG;
        } catch (IOException | UncheckedIOException e) {
            err.println(
                    "gatun: the model cannot be copied to '" + settings.repository() + "': " + IoFailure.describe(e));
            return WRONG;
        } finally {
            out.flush();
            err.flush();
        }
    }

    private int run() throws WrongRequest, IOException {
        LooseModel model = looseModel();
        String name = settings.name().orElse(model.name());
        requireName(name);
        Path place = settings.repository().resolve(name);
        if (Files.exists(place, LinkOption.NOFOLLOW_LINKS)) {
            throw new WrongRequest(
                    "'" + place + "' is there already, and is left as it is; choose another --name or another folder");
        }
        ModelReport report = Checking.reportOf(check(settings.model(), true));
        if (!report.isGood() || report.config().isEmpty()) {
            new CheckReport(out, false).model(report);
            out.println();
            out.println("Nothing was laid out.");
            return BAD;
        }
        ModelConfig config = report.config().get().toBuilder().setName(name).build();
        return put(model, place, ExplainedConfiguration.of(config, report.unbatched()));
    }

    private LooseModel looseModel() throws WrongRequest {
        ServedPath path = ServedPaths.read(engines, settings.model());
        return switch (path) {
            case LooseModel loose -> loose;
            case ModelFolder folder ->
                throw new WrongRequest("'" + folder.folder() + "' is laid out already; serve it with: gatun serve "
                        + settings.model());
            case Repository repository ->
                throw new WrongRequest("'" + repository.folder() + "' is a model repository already; serve it with:"
                        + " gatun serve " + settings.model());
        };
    }

    private static void requireName(String name) throws WrongRequest {
        boolean plain = !name.isBlank()
                && ModelIdentifier.mayBeModel(name)
                && name.chars().noneMatch(c -> c == '/' || Character.isISOControl(c));
        if (!plain) {
            throw new WrongRequest(
                    "the name '" + name.replaceAll("\\p{Cntrl}", "?") + "' is none for a model: expected a"
                            + " folder's name without a slash that does not begin with a point, nor belongs to the system; say another one with --name");
        }
    }

    private CheckSettings check(Path path, boolean autoComplete) {
        return new CheckSettings(
                List.of(path),
                List.of(),
                "",
                autoComplete,
                false,
                settings.backendOptions(),
                settings.backendDirectory(),
                false);
    }

    private int put(LooseModel model, Path place, String configuration) throws IOException, WrongRequest {
        Optional<Path> made = firstMissing(settings.repository().toAbsolutePath());
        Files.createDirectories(settings.repository());
        Path staging = Files.createTempDirectory(settings.repository(), STAGING);
        boolean done = false;
        try {
            Path folder = Files.createDirectories(staging.resolve(place.getFileName()));
            copy(model, Files.createDirectory(folder.resolve(VERSION)));
            Files.writeString(folder.resolve(ConfigurationFile.NAME), configuration);
            ModelReport report = Checking.reportOf(check(folder, false));
            if (!report.isGood()) {
                new CheckReport(out, false).model(report);
                out.println();
                out.println("Nothing was laid out.");
                return BAD;
            }
            // A rename, since both lie in one folder; it fails where somebody else has made the place meanwhile.
            Files.move(folder, place);
            done = true;
        } catch (FileAlreadyExistsException e) {
            throw new WrongRequest("'" + place + "' has come meanwhile, and is left as it is");
        } finally {
            delete(staging);
            if (!done && made.isPresent()) {
                deleteEmpty(settings.repository().toAbsolutePath(), made.get());
            }
        }
        out.println("Laid out " + place);
        out.println("  " + place.resolve(ConfigurationFile.NAME) + "  says what the model takes and gives");
        out.println("Serve it with: gatun serve " + settings.repository());
        return DONE;
    }

    /** Copies the model to where an engine looks for it, and the files beside it that hold its weights. */
    private void copy(LooseModel model, Path version) throws IOException {
        if (model.fileName().isEmpty()) {
            copyFolder(
                    model.path(),
                    version.resolve(engines.folderName(model.path()).orElseThrow()));
            return;
        }
        String fileName = model.fileName().get();
        String copy = engines.looseName(fileName).orElse(fileName);
        Files.copy(model.path(), version.resolve(copy));
        for (Map.Entry<Path, Path> weights :
                engines.companions(model.path(), copy).entrySet()) {
            Path target = version.resolve(weights.getValue().toString());
            Files.createDirectories(target.getParent());
            Files.copy(model.versionFolder().resolve(weights.getKey()), target);
        }
    }

    private static void copyFolder(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from, FileVisitOption.FOLLOW_LINKS)) {
            for (Path file : files.toList()) {
                Files.copy(file, to.resolve(from.relativize(file).toString()));
            }
        }
    }

    private static Optional<Path> firstMissing(Path folder) {
        Optional<Path> missing = Optional.empty();
        for (Path at = folder; at != null && !Files.exists(at, LinkOption.NOFOLLOW_LINKS); at = at.getParent()) {
            missing = Optional.of(at);
        }
        return missing;
    }

    /** Deletes empty folders from {@code folder} up to {@code last}. */
    private static void deleteEmpty(Path folder, Path last) {
        for (Path at = folder; at != null; at = at.equals(last) ? null : at.getParent()) {
            try {
                Files.deleteIfExists(at);
            } catch (IOException e) {
                return; // Somebody else has put something there, whose place it is now.
            }
        }
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    /**
     * The settings of {@code gatun init}.
     *
     * @param model a model's file, or a SavedModel's folder
     * @param repository the model repository that gets it; made if it is not there
     * @param name the model's name there; empty for that of the file or folder
     * @param backendOptions options of backends, by backend and name
     * @param backendDirectory the folder of custom backends; empty for none
     */
    public record LayoutSettings(
            Path model,
            Path repository,
            Optional<String> name,
            Map<String, Map<String, String>> backendOptions,
            Optional<Path> backendDirectory) {}
}
