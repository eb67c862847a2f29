// SPDX-License-Identifier: Apache-2.0
package gatun.cloud.sagemaker;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.IoFailure;
import gatun.runtime.ListedModels.ListedModel;
import gatun.runtime.ModelIdentifier;
import gatun.runtime.ModelOverride;
import gatun.runtime.ModelStatus.ModelState;
import gatun.runtime.Subscription;
import gatun.runtime.server.InferenceServer;
import gatun.wire.inference.ModelVersionPolicy;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The models that SageMaker has loaded, by its names for them; only these are reachable. Thread-safe. */
final class HostedModels {
    private static final Logger LOG = LoggerFactory.getLogger(HostedModels.class);

    /** SageMaker gives an unload 360 seconds. */
    private static final Duration UNLOAD_LIMIT = Duration.ofSeconds(350);

    private final Map<String, Hosted> byHash = new ConcurrentHashMap<>();
    private final InferenceServer server;
    private final Path root;

    /** @param root the folder that all models lie in */
    HostedModels(InferenceServer server, Path root) {
        this.server = server;
        this.root = root.toAbsolutePath().normalize();
    }

    /** A model of SageMaker's; {@code open}: it may be asked, and is neither being loaded nor unloaded. */
    record Hosted(String name, ModelArchive archive, boolean open) {}

    /** Loads a model and waits until it is ready. Throws ALREADY_EXISTS for a name in use; failures change nothing. */
    void load(String hash, String name, String url) {
        ModelArchive archive = ModelArchive.read(root, url, name);
        if (byHash.putIfAbsent(hash, new Hosted(name, archive, false)) != null) {
            throw new GatunException(
                    ErrorCode.ALREADY_EXISTS, "model repository '" + archive.url() + "' has already been registered");
        }
        boolean loaded = false;
        try {
            server.register(archive.models());
            try {
                server.load(name, ModelOverride.NONE);
                loaded = true;
            } finally {
                if (!loaded) {
                    remove(name, archive);
                }
            }
            byHash.put(hash, new Hosted(name, archive, true));
        } finally {
            if (!loaded) {
                byHash.remove(hash);
            }
        }
    }

    /** The model of that hash; empty where none was loaded. */
    Optional<Hosted> find(String hash) {
        return Optional.ofNullable(byHash.get(hash)).filter(Hosted::open);
    }

    Map<String, Hosted> all() {
        Map<String, Hosted> open = new TreeMap<>(byHash);
        open.values().removeIf(hosted -> !hosted.open());
        return open;
    }

    /** Unloads a model and those that were loaded for it, and waits until their requests have ended. */
    boolean unload(String hash) {
        Hosted hosted = byHash.get(hash);
        if (hosted == null
                || !hosted.open()
                || !byHash.replace(hash, hosted, new Hosted(hosted.name(), hosted.archive(), false))) {
            return false;
        }
        try {
            remove(hosted.name(), hosted.archive());
        } finally {
            byHash.remove(hash);
        }
        return true;
    }

    private void remove(String name, ModelArchive archive) {
        List<String> names = archive.names();
        server.unload(name, true);
        if (!awaitEnd(names)) {
            LOG.warn("Model '{}' still answers requests {} after it was unloaded", name, UNLOAD_LIMIT);
        }
        server.unregister(names);
    }

    /** Waits until none of the models holds memory; false when that takes too long. */
    private boolean awaitEnd(List<String> names) {
        long deadline = System.nanoTime() + UNLOAD_LIMIT.toNanos();
        Semaphore changes = new Semaphore(0);
        Subscription subscription = server.onChange(changes::release);
        try {
            while (isServed(names)) {
                if (!changes.tryAcquire(deadline - System.nanoTime(), TimeUnit.NANOSECONDS)) {
                    return !isServed(names);
                }
                changes.drainPermits();
            }
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } finally {
            subscription.close();
        }
    }

    private boolean isServed(List<String> names) {
        return server.index().stream()
                .filter(model -> names.contains(model.name()))
                .anyMatch(model -> model.state() != ModelState.UNAVAILABLE && model.state() != ModelState.UNKNOWN);
    }

    /** A folder unpacked by SageMaker: one model, or an ensemble and its members; requests ask the first. Immutable. */
    record ModelArchive(String url, List<ListedModel> models) {
        private static final String CONFIGURATION = "config.pbtxt";
        private static final Pattern ENSEMBLE = Pattern.compile("platform:\\s*\"ensemble\"");

        /** A segment of a path; as SageMaker makes them. */
        private static final Pattern SEGMENT = Pattern.compile("[0-9A-Za-z._]+");

        /** A folder with more models than this is no ensemble that anybody made. */
        private static final int MOST_MODELS = 64;

        /** The beginning of a configuration in which its platform is looked for, in bytes. */
        private static final int CONFIGURATION_BYTE_SIZE = 64 * 1024;

        /**
         * Finds the models in folder {@code url}. Throws INVALID_ARGUMENT when it has none, may not be read, or leads
         * out of {@code root}, also by symbolic links.
         */
        static ModelArchive read(Path root, String url, String name) {
            try {
                Path folder = allowed(root, url);
                if (Files.exists(folder.resolve(CONFIGURATION))) {
                    Path parent = folder.getParent();
                    return new ModelArchive(String.valueOf(parent), List.of(model(name, folder)));
                }
                return new ModelArchive(folder.toString(), models(root, url, folder, name));
            } catch (IOException e) {
                throw invalid(url, "cannot be read: " + IoFailure.reason(e));
            }
        }

        private static Path allowed(Path root, String url) throws IOException {
            Path folder;
            try {
                folder = Path.of(url).toAbsolutePath().normalize();
            } catch (InvalidPathException e) {
                throw malformed(root, url);
            }
            if (!folder.startsWith(root) || folder.equals(root)) {
                throw malformed(root, url);
            }
            Path below = root.relativize(folder);
            boolean shaped = below.getNameCount() >= 2
                    && below.getNameCount() <= 3
                    && below.getName(1).toString().equals("model");
            for (Path segment : below) {
                shaped &= SEGMENT.matcher(segment.toString()).matches();
            }
            if (!shaped) {
                throw malformed(root, url);
            }
            if (!Files.isDirectory(folder)) {
                throw GatunException.invalidArgument("failed to register '" + folder + "', repository not found");
            }
            requireInside(root, url, folder);
            return folder;
        }

        /** A symbolic link must not lead out of the folder of models. */
        private static void requireInside(Path root, String url, Path path) throws IOException {
            if (!path.toRealPath().startsWith(root.toRealPath())) {
                throw invalid(url, "leads out of " + root);
            }
        }

        private static GatunException malformed(Path root, String url) {
            return invalid(url, "expected a path of the form " + root + "/<hash>/model[/<subdir>]");
        }

        private static GatunException invalid(String url, String why) {
            return GatunException.invalidArgument("Invalid \"url\" '" + url.replace('\0', '?') + "': " + why);
        }

        private static List<ListedModel> models(Path root, String url, Path folder, String name) throws IOException {
            List<Path> directories;
            try (Stream<Path> entries = Files.list(folder)) {
                directories = entries.filter(Files::isDirectory)
                        .filter(entry -> ModelIdentifier.mayBeModel(String.valueOf(entry.getFileName())))
                        .sorted()
                        .limit(MOST_MODELS + 1L)
                        .toList();
            }
            if (directories.isEmpty()) {
                throw invalid(
                        url, "there is no model in it; expected " + CONFIGURATION + ", or a folder for each model");
            }
            if (directories.size() > MOST_MODELS) {
                throw invalid(url, "there are more than " + MOST_MODELS + " models in it");
            }
            Path asked = directories.getFirst();
            int ensembles = 0;
            for (Path directory : directories) {
                requireInside(root, url, directory);
                if (isEnsemble(directory)) {
                    asked = directory;
                    ensembles++;
                }
            }
            if (directories.size() > 1 && ensembles != 1) {
                throw invalid(
                        url,
                        "there are " + directories.size() + " models in it, of which " + ensembles
                                + " are ensembles; expected one model, or an ensemble and its members");
            }
            List<ListedModel> models = new ArrayList<>();
            models.add(model(name, asked));
            for (Path directory : directories) {
                if (!directory.equals(asked)) {
                    models.add(model(String.valueOf(directory.getFileName()), directory));
                }
            }
            return List.copyOf(models);
        }

        private static boolean isEnsemble(Path directory) throws IOException {
            Path file = directory.resolve(CONFIGURATION);
            if (!Files.isRegularFile(file)) {
                return false;
            }
            try (InputStream text = Files.newInputStream(file)) {
                String begin = new String(text.readNBytes(CONFIGURATION_BYTE_SIZE), StandardCharsets.UTF_8);
                return ENSEMBLE.matcher(begin).find();
            }
        }

        private static ListedModel model(String name, Path directory) {
            return new ListedModel(name, directory, "", ModelVersionPolicy.getDefaultInstance(), Map.of());
        }

        List<String> names() {
            return models.stream().map(ListedModel::name).toList();
        }
    }
}
