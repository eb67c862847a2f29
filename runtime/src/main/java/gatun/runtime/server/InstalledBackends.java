// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import gatun.spi.Backend;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.ServiceLoader;
import java.util.stream.Stream;

/**
 * The engines that are there without being named: those that {@link ServiceLoader} finds. In an application the thread
 * that starts a server may know other classes than the server itself: a pool's thread in a jar of jars sees neither.
 */
final class InstalledBackends {
    private InstalledBackends() {}

    /** One of each class, the server's own first: those beside it, and those that the calling thread's loader knows. */
    static List<Backend> find() {
        ClassLoader own = InstalledBackends.class.getClassLoader();
        ClassLoader application = Thread.currentThread().getContextClassLoader();
        Map<Class<?>, ServiceLoader.Provider<Backend>> found = new LinkedHashMap<>();
        Stream.of(own, application)
                .filter(Objects::nonNull)
                .distinct()
                .filter(InstalledBackends::knowsOurs)
                .flatMap(loader -> ServiceLoader.load(Backend.class, loader).stream())
                .forEach(provider -> found.putIfAbsent(provider.type(), provider));
        return found.values().stream().map(ServiceLoader.Provider::get).toList();
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
