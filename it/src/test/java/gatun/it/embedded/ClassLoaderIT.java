// SPDX-License-Identifier: Apache-2.0
package gatun.it.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.ModelRepositoryFolder;
import gatun.it.harness.SimpleModel;
import java.io.IOException;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Gatun in class loaders of applications, which a container makes: the thread's loader does not know Gatun, and an
 * application that is deployed again comes with its own copy while the old one is still in memory.
 */
class ClassLoaderIT {
    @TempDir
    Path folder;

    @Test
    void shouldServeInEachOfTwoApplicationsOfOneContainer() throws Exception {
        new ModelRepositoryFolder(folder).simple("simple", "", 1);
        try (URLClassLoader first = application();
                URLClassLoader second = application()) {
            try (AutoCloseable one = serve(first, folder);
                    AutoCloseable other = serve(second, folder)) {
                assertThat(one.getClass()).isNotEqualTo(other.getClass());
                assertThat(sum(first, one)).isEqualTo(SimpleModel.SUM);
                assertThat(sum(second, other)).isEqualTo(SimpleModel.SUM);
            }
            try (AutoCloseable again = serve(first, folder)) {
                assertThat(sum(first, again)).isEqualTo(SimpleModel.SUM);
            }
        }
    }

    /** The jars of the server in a loader that shares nothing with this one. */
    private static URLClassLoader application() throws IOException {
        List<URL> jars = new ArrayList<>();
        try (Stream<Path> files = Files.list(Path.of(System.getProperty("gatun.lib")))) {
            for (Path file : files.toList()) {
                jars.add(file.toUri().toURL());
            }
        }
        return new URLClassLoader("application", jars.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
    }

    private static AutoCloseable serve(ClassLoader application, Path repository) throws Exception {
        Class<?> gatun = application.loadClass("gatun.embedded.Gatun");
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        thread.setContextClassLoader(ClassLoader.getPlatformClassLoader());
        try {
            return (AutoCloseable) gatun.getMethod("embedded", Path.class).invoke(null, repository);
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    private static Object sum(ClassLoader application, Object gatun) throws Exception {
        Class<?> tensor = application.loadClass("gatun.memory.tensor.Tensor");
        Method make = application
                .loadClass("gatun.client.ArrayTensors")
                .getMethod("of", String.class, int[].class, long[].class);
        Object inputs = Array.newInstance(tensor, 2);
        Array.set(inputs, 0, make.invoke(null, "INPUT0", SimpleModel.LEFT, new long[] {1, 16}));
        Array.set(inputs, 1, make.invoke(null, "INPUT1", SimpleModel.RIGHT, new long[] {1, 16}));
        Object client = gatun.getClass().getMethod("client").invoke(gatun);
        Object response = application
                .loadClass("gatun.client.GatunClient")
                .getMethod("infer", String.class, inputs.getClass())
                .invoke(client, "simple", inputs);
        try (AutoCloseable closed = (AutoCloseable) response) {
            return application
                    .loadClass("gatun.client.InferResponse")
                    .getMethod("ints", String.class)
                    .invoke(closed, "OUTPUT0");
        }
    }
}
