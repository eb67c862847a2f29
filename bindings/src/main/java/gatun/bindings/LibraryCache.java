// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.JarURLConnection;
import java.net.URL;
import java.net.URLConnection;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.jar.JarFile;
import java.util.zip.CRC32;
import java.util.zip.CheckedInputStream;
import java.util.zip.ZipEntry;

/**
 * Unpacks native libraries from jars into a folder of the user's, once for each content, since the system's loader
 * wants files.
 *
 * <p>A library lies in a folder named by its size and checksum, so that two versions never meet, and under its own
 * name, so that it finds the libraries that it expects beside it. Servers that start at once wait for the one that
 * unpacks. A file that was cut short or changed is unpacked again. Thread-safe.
 */
public final class LibraryCache {
    /** Environment variable that names the folder to use. */
    public static final String FOLDER_VARIABLE = "GATUN_CACHE";

    /** System property that names the folder of the libraries that a distribution brings, unpacked already. */
    public static final String BUNDLED_PROPERTY = "gatun.libraries";

    private static final int CHUNK_BYTES = 1 << 16;

    /** Orders this process's threads, which share a file lock. Held across I/O, but only at start. */
    private static final ReentrantLock UNPACKING = new ReentrantLock();

    private final Path folder;

    /** Uses {@code folder}, which is made when it is first needed. */
    public LibraryCache(Path folder) {
        this.folder = folder.toAbsolutePath().normalize();
    }

    /**
     * The cache of the user who runs this process: {@code $GATUN_CACHE}, else {@code $XDG_CACHE_HOME/gatun}, else
     * {@code ~/.cache/gatun}.
     *
     * @param environment as from {@link System#getenv()}
     * @param home the user's home folder
     */
    public static LibraryCache ofUser(Map<String, String> environment, Path home) {
        String own = environment.getOrDefault(FOLDER_VARIABLE, "");
        if (!own.isEmpty()) {
            return new LibraryCache(Path.of(own));
        }
        String xdg = environment.getOrDefault("XDG_CACHE_HOME", "");
        // The XDG rules say that a relative path there is to be ignored.
        Path base = xdg.startsWith("/") ? Path.of(xdg) : home.resolve(".cache");
        return new LibraryCache(base.resolve("gatun"));
    }

    /** The cache of the user who runs this process, from the environment and {@code user.home}. */
    public static LibraryCache ofUser() {
        return ofUser(System.getenv(), Path.of(System.getProperty("user.home", "/")));
    }

    /** The bundled library in {@link #BUNDLED_PROPERTY}'s folder, unchecked; empty where there is none. */
    public static Optional<Path> bundled(String fileName) {
        return Optional.ofNullable(System.getProperty(BUNDLED_PROPERTY))
                .map(libraries -> Path.of(libraries).resolve(fileName))
                .filter(Files::isRegularFile);
    }

    /** Where the libraries go. */
    public Path folder() {
        return folder;
    }

    /**
     * The file that holds the content of {@code resource}, unpacked now unless it was before, or is bundled.
     *
     * @param resource an entry of a jar, or a file
     * @throws UncheckedIOException when the resource cannot be read or the folder not be written; the message names the
     *     folder and says how to choose another
     */
    public Path unpack(URL resource) {
        String name = fileName(resource);
        Optional<Path> bundled = bundled(name);
        if (bundled.isPresent()) {
            return bundled.get();
        }
        try {
            Content content = Content.of(resource);
            Path home = folder.resolve("lib-" + content.label());
            Path library = home.resolve(name);
            if (content.isIn(library)) {
                return library;
            }
            createFolder(home);
            UNPACKING.lock();
            try (FileChannel lockFile =
                    FileChannel.open(home.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
                lockFile.lock(); // until the channel is closed
                if (!content.isIn(library)) {
                    unpackTo(library, resource, content);
                }
            } finally {
                UNPACKING.unlock();
            }
            return library;
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "cannot unpack " + name + " into the cache folder " + folder + ": " + e + "; set " + FOLDER_VARIABLE
                            + " to a folder that this user can write",
                    e);
        }
    }

    private static void unpackTo(Path library, URL resource, Content expected) throws IOException {
        // Under the lock nobody else writes this file, and the remains of a killed process are overwritten.
        Path partial = library.resolveSibling(library.getFileName() + ".part");
        try (InputStream in = open(resource)) {
            Files.copy(in, partial, StandardCopyOption.REPLACE_EXISTING);
        }
        if (!expected.isIn(partial)) {
            throw new IOException("what was read from " + resource + " is not what its jar announces");
        }
        Files.move(partial, library, StandardCopyOption.ATOMIC_MOVE);
    }

    /** Makes the folder for this user alone: whoever could write here could run code in the server. */
    private static void createFolder(Path home) throws IOException {
        Files.createDirectories(
                home, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    }

    private static String fileName(URL resource) {
        String path = resource.getPath();
        return path.substring(path.lastIndexOf('/') + 1);
    }

    private static InputStream open(URL resource) throws IOException {
        URLConnection connection = resource.openConnection();
        // Else the jar stays open in a cache of the JDK.
        connection.setUseCaches(false);
        return connection.getInputStream();
    }

    /** Identifies a content: cheap to read from a jar's entry, and cheap to check for a file. */
    private record Content(long byteSize, long checksum) {
        static Content of(URL resource) throws IOException {
            URLConnection connection = resource.openConnection();
            connection.setUseCaches(false);
            // A jar in a jar is read by another's code, which does not tell of its entries what the JDK's does.
            if (connection instanceof JarURLConnection jar
                    && jar.getJarFileURL().getProtocol().equals("file")) {
                try (JarFile archive = jar.getJarFile()) {
                    ZipEntry entry = archive.getEntry(jar.getEntryName());
                    return new Content(entry.getSize(), entry.getCrc());
                }
            }
            try (InputStream in = connection.getInputStream()) {
                return read(in);
            }
        }

        boolean isIn(Path file) throws IOException {
            if (!Files.isRegularFile(file) || Files.size(file) != byteSize) {
                return false;
            }
            try (InputStream in = Files.newInputStream(file)) {
                return read(in).checksum == checksum;
            }
        }

        private static Content read(InputStream in) throws IOException {
            CheckedInputStream checked = new CheckedInputStream(in, new CRC32());
            byte[] chunk = new byte[CHUNK_BYTES];
            long byteSize = 0;
            for (int read = checked.read(chunk); read >= 0; read = checked.read(chunk)) {
                byteSize += read;
            }
            return new Content(byteSize, checked.getChecksum().getValue());
        }

        String label() {
            return String.format(Locale.ROOT, "%d-%08x", byteSize, checksum);
        }
    }
}
