// SPDX-License-Identifier: Apache-2.0
package gatun.spring;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.springframework.core.io.Resource;
import org.springframework.core.io.ResourceLoader;
import org.springframework.core.io.support.ResourcePatternResolver;
import org.springframework.core.io.support.ResourcePatternUtils;

/**
 * A model repository as files, which engines read: the folder itself, or a copy of the application's resources. Owns the
 * copy, which is deleted when this is closed. Safe for any thread.
 */
public final class RepositoryFolder implements AutoCloseable {
    private final Path path;
    private final boolean copied;

    private RepositoryFolder(Path path, boolean copied) {
        this.path = path;
        this.copied = copied;
    }

    /** A path or a resource folder with a prefix ({@code classpath:}). Throws when there are no such resources. */
    static RepositoryFolder open(String location, ResourceLoader resources) throws IOException {
        if (!location.startsWith(ResourceLoader.CLASSPATH_URL_PREFIX)) {
            return new RepositoryFolder(Path.of(location.replaceFirst("^file:", "")), false);
        }
        String folder = location.endsWith("/") ? location : location + '/';
        ResourcePatternResolver resolver = ResourcePatternUtils.getResourcePatternResolver(resources);
        List<Resource> files = readable(resolver, folder + "**");
        if (files.isEmpty()) {
            throw new FileNotFoundException("gatun.model-repository=" + location
                    + ": the application has no such resources; expected a folder of models below it");
        }
        String root = resolver.getResource(folder).getURL().toString();
        RepositoryFolder copy = new RepositoryFolder(Files.createTempDirectory("gatun-models"), true);
        try {
            for (Resource file : files) {
                copy(file, copy.path.resolve(below(root, file)));
            }
            return copy;
        } catch (IOException | RuntimeException e) {
            copy.close();
            throw e;
        }
    }

    /** Where the models lie; valid until {@link #close}. */
    public Path path() {
        return path;
    }

    /** Deletes the copy, if it is one. */
    @Override
    public void close() throws IOException {
        if (!copied) {
            return;
        }
        List<Path> inside;
        try (Stream<Path> files = Files.walk(path)) {
            inside = files.sorted(Comparator.reverseOrder()).toList();
        }
        for (Path file : inside) {
            Files.deleteIfExists(file);
        }
    }

    private static List<Resource> readable(ResourcePatternResolver resolver, String pattern) throws IOException {
        try {
            return Arrays.stream(resolver.getResources(pattern))
                    .filter(Resource::isReadable)
                    .toList();
        } catch (FileNotFoundException e) {
            // Not even their folder is there.
            return List.of();
        }
    }

    private static String below(String root, Resource file) throws IOException {
        String url = file.getURL().toString();
        if (!url.startsWith(root)) {
            throw new IOException("gatun.model-repository: " + url + " does not lie below " + root
                    + "; expected all models in one folder or jar");
        }
        return url.substring(root.length());
    }

    private static void copy(Resource file, Path target) throws IOException {
        if (file.getFilename() == null || target.toString().endsWith("/")) {
            return;
        }
        Files.createDirectories(target.getParent());
        try (InputStream in = file.getInputStream()) {
            Files.copy(in, target);
        }
    }
}
