// SPDX-License-Identifier: Apache-2.0
package gatun.spi.discovery;

import gatun.spi.Backend;
import gatun.spi.Setting;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The backends that whoever runs the server has put beside it: each jar of a directory, and each of its folders with
 * all jars in it, has a class loader of its own, so that the libraries of one are not seen by another. A backend that
 * cannot be loaded is reported and does not keep the others from working. Owns the class loaders.
 */
public final class BackendDirectory implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(BackendDirectory.class);
    private static final String JAR = ".jar";

    private final List<Backend> backends = new ArrayList<>();
    private final List<String> failures = new ArrayList<>();
    private final List<URLClassLoader> loaders = new ArrayList<>();

    private BackendDirectory() {}

    /** No directory and no backends. */
    public static BackendDirectory none() {
        return new BackendDirectory();
    }

    /** Loads the backends in {@code directory}, by name. Never fails; logs failures for {@link #failures}. */
    public static BackendDirectory open(Path directory) {
        BackendDirectory opened = new BackendDirectory();
        if (!Files.isDirectory(directory)) {
            LOG.warn("{} is not a folder; no backend is loaded from it", Setting.BACKEND_DIRECTORY.with(directory));
            return opened;
        }
        for (Path place : list(directory)) {
            List<Path> jars = jarsOf(place);
            if (!jars.isEmpty()) {
                opened.load(place, jars);
            } else if (Files.isDirectory(place)) {
                LOG.warn("{} holds no jar; no backend is loaded from it", place);
            }
        }
        return opened;
    }

    private static List<Path> jarsOf(Path place) {
        List<Path> files = Files.isDirectory(place) ? list(place) : List.of(place);
        return files.stream()
                .filter(file -> file.toString().endsWith(JAR) && Files.isRegularFile(file))
                .toList();
    }

    private static List<Path> list(Path folder) {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.sorted().toList();
        } catch (IOException | UncheckedIOException e) {
            LOG.error("{} cannot be read; no backend is loaded from it", folder, e);
            return List.of();
        }
    }

    /** Anything may go wrong in code that is not ours, so that everything is caught here. */
    private void load(Path place, List<Path> jars) {
        URLClassLoader loader = null;
        try {
            loader = loader(place, jars);
            List<Backend> found = providers(loader);
            if (found.isEmpty()) {
                throw new IllegalArgumentException(
                        "it names no backend in META-INF/services/" + Backend.class.getName());
            }
            for (Backend backend : found) {
                LOG.info("Backend '{}' comes from {}", nameOf(backend), place);
            }
            backends.addAll(found);
            loaders.add(loader);
        } catch (Throwable t) {
            LOG.error("{} could not be loaded; models of its backend will not be served", place, t);
            failures.add(
                    place + " could not be loaded: " + (t instanceof IllegalArgumentException ? t.getMessage() : t));
            if (loader != null) {
                close(loader);
            }
        }
    }

    private static URLClassLoader loader(Path place, List<Path> jars) throws IOException {
        URL[] urls = new URL[jars.size()];
        for (int i = 0; i < urls.length; i++) {
            // A class loader takes no notice of a jar that it cannot read; this does.
            new JarFile(jars.get(i).toFile()).close();
            urls[i] = jars.get(i).toUri().toURL();
        }
        return new URLClassLoader("backend " + place.getFileName(), urls, Backend.class.getClassLoader());
    }

    /** The backends of that loader's own jars, not those that its parents know too. */
    @SuppressWarnings("ReferenceEquality") // a class has one loader
    private static List<Backend> providers(URLClassLoader loader) {
        return ServiceLoader.load(Backend.class, loader).stream()
                .filter(provider -> provider.type().getClassLoader() == loader)
                .map(ServiceLoader.Provider::get)
                .toList();
    }

    private static String nameOf(Backend backend) {
        String name = backend.name();
        if (name == null || name.isBlank()) {
            throw new IllegalArgumentException(
                    "its backend " + backend.getClass().getName() + " has no name");
        }
        return name;
    }

    /** The backends that could be loaded, by their jars' names; not started yet. */
    public List<Backend> backends() {
        return List.copyOf(backends);
    }

    /** One sentence for each jar or folder that could not be loaded. */
    public List<String> failures() {
        return List.copyOf(failures);
    }

    /** Gives the jars up; no class of theirs is used any more. */
    @Override
    public void close() {
        loaders.forEach(BackendDirectory::close);
        loaders.clear();
    }

    private static void close(URLClassLoader loader) {
        try {
            loader.close();
        } catch (IOException e) {
            LOG.warn("Closing the jars of {} failed", loader.getName(), e);
        }
    }
}
