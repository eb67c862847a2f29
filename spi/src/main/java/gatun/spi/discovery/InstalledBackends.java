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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.Spliterator;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The engines that a process can use, none of them started: those that {@link ServiceLoader} finds, and those of the
 * operator's directory. Each jar of the directory, and each of its folders with all jars in it, has a class loader of its
 * own, so that the libraries of one are not seen by another. A backend that cannot be loaded is reported and does not
 * keep the others from working. Owns the class loaders.
 */
public final class InstalledBackends implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(InstalledBackends.class);
    private static final String JAR = ".jar";

    private final List<Backend> services;
    private final List<Backend> ofDirectory = new ArrayList<>();
    private final List<String> failures = new ArrayList<>();
    private final List<URLClassLoader> loaders = new ArrayList<>();

    private InstalledBackends(List<Backend> services) {
        this.services = services;
    }

    /**
     * Finds the engines of this process. Never fails for what a directory holds: failures are logged, and told by
     * {@link #failures}.
     *
     * @param directory the operator's own; empty for none
     */
    public static InstalledBackends find(Optional<Path> directory) {
        InstalledBackends installed = new InstalledBackends(findServices());
        directory.ifPresent(installed::open);
        return installed;
    }

    /**
     * One of each class, the server's own first: those beside it, then those of the calling thread's loader. An
     * application's threads may know other classes than the server; in a jar of jars, a pool's thread sees neither.
     * Foreign engines are left out with a warning: a container may show those of another copy of Gatun.
     */
    private static List<Backend> findServices() {
        ClassLoader own = InstalledBackends.class.getClassLoader();
        ClassLoader application = Thread.currentThread().getContextClassLoader();
        Map<Class<?>, ServiceLoader.Provider<Backend>> found = new LinkedHashMap<>();
        Stream.of(own, application)
                .filter(Objects::nonNull)
                .distinct()
                .filter(InstalledBackends::knowsOurs)
                .forEach(loader -> find(loader, found));
        return found.values().stream().map(ServiceLoader.Provider::get).toList();
    }

    private static void find(ClassLoader loader, Map<Class<?>, ServiceLoader.Provider<Backend>> found) {
        Spliterator<ServiceLoader.Provider<Backend>> providers =
                ServiceLoader.load(Backend.class, loader).stream().spliterator();
        boolean more = true;
        while (more) {
            try {
                more = providers.tryAdvance(provider -> found.putIfAbsent(provider.type(), provider));
            } catch (ServiceConfigurationError e) {
                LOG.warn("An engine is left out: {}", e.getMessage());
            }
        }
    }

    /** Whether what this loader calls a backend is one to this server, and not to another copy of it. */
    @SuppressWarnings("ReferenceEquality") // another loader's class of the same name is another class
    private static boolean knowsOurs(ClassLoader loader) {
        try {
            return Class.forName(Backend.class.getName(), false, loader) == Backend.class;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    private void open(Path directory) {
        if (!Files.isDirectory(directory)) {
            LOG.warn("{} is not a folder; no backend is loaded from it", Setting.BACKEND_DIRECTORY.with(directory));
            return;
        }
        for (Path place : list(directory)) {
            List<Path> jars = jarsOf(place);
            if (!jars.isEmpty()) {
                load(place, jars);
            } else if (Files.isDirectory(place)) {
                LOG.warn("{} holds no jar; no backend is loaded from it", place);
            }
        }
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
                // Asked for again where nothing catches what it throws.
                backend.formats().forEach(Objects::requireNonNull);
            }
            ofDirectory.addAll(found);
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

    /** All engines; a later one hides an earlier one of the same name. */
    public List<Backend> all() {
        return Stream.concat(services.stream(), ofDirectory.stream()).toList();
    }

    /** The engines that come with the server or with the application that it is part of. */
    public List<Backend> services() {
        return services;
    }

    /** The engines of the directory, by their jars' names; they hide others of their names. */
    public List<Backend> ofDirectory() {
        return List.copyOf(ofDirectory);
    }

    /** One sentence for each jar or folder that could not be loaded. */
    public List<String> failures() {
        return List.copyOf(failures);
    }

    /** Gives the jars up; no class of theirs is used any more. */
    @Override
    public void close() {
        loaders.forEach(InstalledBackends::close);
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
