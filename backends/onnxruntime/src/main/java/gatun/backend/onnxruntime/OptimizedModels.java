// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.IoFailure;
import gatun.spi.Setting;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A folder of optimised graphs, named by the digest of all that they follow from: model file, library, processor and
 * options. Files may be deleted at any time; several servers may share it. Thread-safe.
 */
final class OptimizedModels {
    private static final Logger LOG = LoggerFactory.getLogger(OptimizedModels.class);

    /** All that is kept, in bytes: beyond it the files that were not used for the longest time are deleted. */
    private static final long MOST_BYTES = 10L << 30;

    /** The file format of models ends at 2 GiB; a graph may be larger than the file that it was made from. */
    private static final long MOST_MODEL_BYTES = 1L << 30;

    /** A draft that is older was left by a process that has ended. */
    private static final Duration DRAFT_LIFE = Duration.ofDays(1);

    private static final String GRAPH = ".onnx";
    private static final String DRAFT = ".draft";
    private static final Path PROCESSOR = Path.of("/proc/cpuinfo");

    private final Path folder;
    private final String surroundings;

    private OptimizedModels(Path folder, String surroundings) {
        this.folder = folder;
        this.surroundings = surroundings;
    }

    /** Opens a folder, made for its owner if missing. Throws {@link GatunException} UNAVAILABLE if not writable. */
    static OptimizedModels in(Path folder, String version) {
        try {
            if (!Files.isDirectory(folder)) {
                Files.createDirectories(
                        folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            }
            OptimizedModels models = new OptimizedModels(folder, version + "\n" + processor());
            Files.delete(Files.createFile(models.draft()));
            models.deleteOldDrafts();
            return models;
        } catch (IOException | UncheckedIOException e) {
            throw new GatunException(
                    ErrorCode.UNAVAILABLE,
                    Setting.MODEL_CACHE_DIR.with(folder) + ": optimised models cannot be kept there ("
                            + IoFailure.describe(e) + "); name a folder that this user may write to",
                    e);
        }
    }

    /** The processor's model and features, by which the engine chooses its kernels; empty when unknown. */
    private static String processor() throws IOException {
        if (!Files.isReadable(PROCESSOR)) {
            return "";
        }
        try (Stream<String> lines = Files.lines(PROCESSOR)) {
            return String.join(
                    "\n",
                    lines.takeWhile(line -> !line.isEmpty())
                            .filter(line -> line.startsWith("model name")
                                    || line.startsWith("flags")
                                    || line.startsWith("Features")
                                    || line.startsWith("CPU part"))
                            .toList());
        }
    }

    /** A graph's place, by model and {@code options}; empty for one over a GiB or with weights in other files. */
    Optional<Path> place(Path model, String options) {
        try (FileChannel channel = FileChannel.open(model, StandardOpenOption.READ)) {
            if (channel.size() > MOST_MODEL_BYTES || !isAlone(model)) {
                return Optional.empty();
            }
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update((surroundings + "\n" + options + "\n").getBytes(StandardCharsets.UTF_8));
            digest.update(channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size()));
            return Optional.of(folder.resolve(HexFormat.of().formatHex(digest.digest()) + GRAPH));
        } catch (IOException e) {
            return Optional.empty(); // The engine reports the error in the file.
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java has SHA-256", e);
        }
    }

    private static boolean isAlone(Path model) throws IOException {
        try (Stream<Path> files = Files.list(model.toAbsolutePath().getParent())) {
            return files.count() == 1;
        }
    }

    Path draft() {
        return folder.resolve(UUID.randomUUID() + DRAFT);
    }

    /** Moves a complete draft into place, and deletes files beyond the limit. */
    void keep(Path draft, Path place) {
        try {
            Files.move(draft, place, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            deleteOldest(place);
        } catch (IOException | UncheckedIOException e) {
            LOG.warn("An optimised model cannot be kept in {}: {}", folder, IoFailure.describe(e));
        }
    }

    void used(Path place) {
        try {
            Files.setLastModifiedTime(place, FileTime.from(Instant.now()));
        } catch (IOException e) {
            LOG.debug("{} belongs to somebody else, or is gone", place, e);
        }
    }

    /** Deletes a draft or a graph, if it is there. */
    void delete(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            LOG.warn("{} cannot be deleted: {}", file, IoFailure.reason(e));
        }
    }

    private void deleteOldDrafts() throws IOException {
        Instant oldest = Instant.now().minus(DRAFT_LIFE);
        for (Kept draft : files(DRAFT)) {
            if (draft.used().isBefore(oldest)) {
                delete(draft.file());
            }
        }
    }

    private void deleteOldest(Path but) throws IOException {
        List<Kept> graphs = files(GRAPH);
        long byteSize = graphs.stream().mapToLong(Kept::byteSize).sum();
        for (Kept graph : graphs) {
            if (byteSize <= MOST_BYTES) {
                return;
            }
            if (!graph.file().equals(but)) {
                delete(graph.file());
                byteSize -= graph.byteSize();
            }
        }
    }

    /** The files with such an ending, those first that were not used for the longest time. */
    private List<Kept> files(String ending) throws IOException {
        Predicate<Path> wanted = file -> file.getFileName().toString().endsWith(ending);
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(wanted)
                    .map(Kept::of)
                    .flatMap(Optional::stream)
                    .sorted(Comparator.comparing(Kept::used))
                    .toList();
        }
    }

    private record Kept(Path file, Instant used, long byteSize) {
        static Optional<Kept> of(Path file) {
            try {
                return Optional.of(
                        new Kept(file, Files.getLastModifiedTime(file).toInstant(), Files.size(file)));
            } catch (IOException e) {
                return Optional.empty();
            }
        }
    }
}
