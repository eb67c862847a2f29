// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class LibraryCacheTest {
    private static final int LIBRARY_BYTES = 3_000_017;

    @TempDir
    Path folder;

    private byte[] library;
    private URL resource;

    @BeforeEach
    void packALibrary() throws IOException {
        library = new byte[LIBRARY_BYTES];
        new Random(7).nextBytes(library);
        Path jar = folder.resolve("engine.jar");
        try (OutputStream file = Files.newOutputStream(jar);
                ZipOutputStream zip = new ZipOutputStream(file)) {
            zip.putNextEntry(new ZipEntry("native/linux/libengine.so"));
            zip.write(library);
        }
        resource =
                URI.create("jar:" + jar.toUri() + "!/native/linux/libengine.so").toURL();
    }

    @Test
    void shouldUnpackTheLibraryUnderItsOwnName() {
        Path unpacked = new LibraryCache(folder.resolve("cache")).unpack(resource);
        assertThat(unpacked).hasBinaryContent(library).hasFileName("libengine.so");
    }

    @Test
    void shouldTakeABundledLibraryAndWriteNothing() throws IOException {
        Path bundled = Files.createDirectory(folder.resolve("native"));
        Path own = Files.writeString(bundled.resolve("libengine.so"), "of the distribution");
        System.setProperty(LibraryCache.BUNDLED_PROPERTY, bundled.toString());
        try {
            assertThat(new LibraryCache(folder.resolve("cache")).unpack(resource))
                    .isEqualTo(own);
            assertThat(folder.resolve("cache")).doesNotExist();
            assertThat(LibraryCache.bundled("libother.so")).isEmpty();
        } finally {
            System.clearProperty(LibraryCache.BUNDLED_PROPERTY);
        }
    }

    @Test
    void shouldUnpackOnlyOnce() throws IOException {
        LibraryCache cache = new LibraryCache(folder.resolve("cache"));
        Path first = cache.unpack(resource);
        Object inode = Files.getAttribute(first, "unix:ino");
        assertThat(cache.unpack(resource)).isEqualTo(first);
        assertThat(Files.getAttribute(first, "unix:ino")).isEqualTo(inode);
    }

    @Test
    void shouldUnpackAgainWhatWasCutShortOrChanged() throws IOException {
        LibraryCache cache = new LibraryCache(folder.resolve("cache"));
        Path unpacked = cache.unpack(resource);
        Files.write(unpacked, new byte[] {1, 2, 3});
        assertThat(cache.unpack(resource)).hasBinaryContent(library);
        byte[] changed = library.clone();
        changed[1_000_000] ^= 1;
        Files.write(unpacked, changed);
        assertThat(cache.unpack(resource)).hasBinaryContent(library);
    }

    @Test
    void shouldOverwriteWhatAKilledProcessLeft() throws IOException {
        LibraryCache cache = new LibraryCache(folder.resolve("cache"));
        Path unpacked = cache.unpack(resource);
        Files.delete(unpacked);
        Path partial = unpacked.resolveSibling("libengine.so.part");
        Files.write(partial, new byte[LIBRARY_BYTES + 5]);
        assertThat(cache.unpack(resource)).hasBinaryContent(library);
        assertThat(partial).doesNotExist();
    }

    @Test
    void shouldKeepTwoVersionsApart() throws IOException {
        LibraryCache cache = new LibraryCache(folder.resolve("cache"));
        Path plain = Files.write(folder.resolve("libengine.so"), new byte[] {4, 5, 6});
        assertThat(cache.unpack(plain.toUri().toURL()))
                .hasBinaryContent(new byte[] {4, 5, 6})
                .isNotEqualTo(cache.unpack(resource));
    }

    @Test
    void shouldKeepOthersOutOfTheFolder() throws IOException {
        Path unpacked = new LibraryCache(folder.resolve("cache")).unpack(resource);
        assertThat(Files.getPosixFilePermissions(unpacked.getParent()))
                .isEqualTo(PosixFilePermissions.fromString("rwx------"));
    }

    @Test
    void shouldSayWhatToDoWhenTheFolderCannotBeWritten() throws IOException {
        Path file = Files.write(folder.resolve("a-file"), new byte[1]);
        assertThatExceptionOfType(UncheckedIOException.class)
                .isThrownBy(() -> new LibraryCache(file).unpack(resource))
                .withMessageContaining("cannot unpack libengine.so into the cache folder " + file)
                .withMessageContaining("set GATUN_CACHE to a folder that this user can write");
    }

    @Test
    void shouldFindTheUsersFolderAsXdgSays() {
        Path home = Path.of("/home/ann");
        assertThat(LibraryCache.ofUser(Map.of(), home).folder()).isEqualTo(Path.of("/home/ann/.cache/gatun"));
        assertThat(LibraryCache.ofUser(Map.of("XDG_CACHE_HOME", "/var/cache/ann"), home)
                        .folder())
                .isEqualTo(Path.of("/var/cache/ann/gatun"));
        assertThat(LibraryCache.ofUser(Map.of("XDG_CACHE_HOME", "relative"), home)
                        .folder())
                .isEqualTo(Path.of("/home/ann/.cache/gatun"));
        assertThat(LibraryCache.ofUser(Map.of("XDG_CACHE_HOME", "/var/cache/ann", "GATUN_CACHE", "/opt/own"), home)
                        .folder())
                .isEqualTo(Path.of("/opt/own"));
    }

    @Test
    void shouldUnpackOnceWhenSeveralProcessesAndThreadsStartAtOnce() throws Exception {
        assumeThat(ProcessHandle.current().info().command()).isPresent();
        Path cache = folder.resolve("cache");
        List<ChildJvm> children = new ArrayList<>();
        try {
            for (int i = 0; i < 2; i++) {
                children.add(ChildJvm.launch(Unpacker.class, cache.toString(), resource.toString()));
            }
            for (ChildJvm child : children) {
                child.awaitLine("ready", Duration.ofSeconds(60));
            }
            children.forEach(child -> child.send("go"));
            for (ChildJvm child : children) {
                Path unpacked = Path.of(child.awaitLine("unpacked", Duration.ofSeconds(60)));
                assertThat(unpacked).hasBinaryContent(library);
                assertThat(child.awaitExit(Duration.ofSeconds(60))).isZero();
            }
        } finally {
            children.forEach(ChildJvm::close);
        }
        try (Stream<Path> files = Files.walk(cache)) {
            assertThat(files.filter(Files::isRegularFile)
                            .map(file -> file.getFileName().toString()))
                    .containsExactlyInAnyOrder("libengine.so", "lock");
        }
    }

    /** Unpacks in two threads when told to. */
    static final class Unpacker {
        private Unpacker() {}

        public static void main(String[] arguments) throws Exception {
            LibraryCache cache = new LibraryCache(Path.of(arguments[0]));
            URL resource = URI.create(arguments[1]).toURL();
            System.out.println("ready");
            if (System.in.read() < 0) {
                return;
            }
            Thread other = Thread.ofPlatform().start(() -> cache.unpack(resource));
            System.out.println("unpacked " + cache.unpack(resource));
            other.join();
        }
    }
}
