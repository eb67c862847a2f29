// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import gatun.spi.Backend;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.Spliterator;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The engines that are there without being named: those that {@link ServiceLoader} finds. In an application the thread
 * that starts a server may know other classes than the server itself: a pool's thread in a jar of jars sees neither.
 */
final class InstalledBackends {
    private static final Logger LOG = LoggerFactory.getLogger(InstalledBackends.class);

    private InstalledBackends() {}

    /**
     * One of each class, the server's own first: those beside it, and those that the calling thread's loader knows. What
     * is no engine to this server is left out with a warning: a container may show a web application the engines of
     * another copy of Gatun.
     */
    static List<Backend> find() {
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
}
