// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.IoFailure;
import java.io.IOException;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.EnumSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A mark that changes with files: the newest modification time below a directory, in nanoseconds since the epoch or 0
 * for nothing, with their count and total size: replacing a file by an older one, or removing it, is a change.
 */
record ModificationStamp(long newestNanos, long entryCount, long byteSize) {
    /** Deep enough for any model, and an end for links that lead in circles. */
    private static final int MAX_DEPTH = 64;

    static final ModificationStamp NOTHING = new ModificationStamp(0, 0, 0);

    /** The stamp of a file, or of what is below a directory. Throws INVALID_ARGUMENT when it cannot be read. */
    static ModificationStamp of(Path path) {
        if (Files.isDirectory(path)) {
            return below(path, child -> false);
        }
        try {
            BasicFileAttributes file = Files.readAttributes(path, BasicFileAttributes.class);
            return new ModificationStamp(file.lastModifiedTime().to(TimeUnit.NANOSECONDS), 1, file.size());
        } catch (IOException e) {
            throw GatunException.invalidArgument("cannot read '" + path + "': " + IoFailure.reason(e));
        }
    }

    /**
     * The stamp below {@code root}, links followed. Unreadable files count as absent, since they may be on their way in
     * or out; throws INVALID_ARGUMENT when {@code root} is unreadable.
     */
    static ModificationStamp below(Path root, Predicate<Path> skipped) {
        Walk walk = new Walk(root, skipped);
        try {
            Files.walkFileTree(root, EnumSet.of(FileVisitOption.FOLLOW_LINKS), MAX_DEPTH, walk);
        } catch (IOException e) {
            throw GatunException.invalidArgument("cannot read '" + root.getFileName() + "': " + IoFailure.describe(e));
        }
        return new ModificationStamp(walk.newestNanos, walk.entryCount, walk.byteSize);
    }

    private static final class Walk extends SimpleFileVisitor<Path> {
        private final Path root;
        private final Predicate<Path> skipped;
        private long newestNanos;
        private long entryCount;
        private long byteSize;

        Walk(Path root, Predicate<Path> skipped) {
            this.root = root;
            this.skipped = skipped;
        }

        @Override
        public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
            if (directory.equals(root)) {
                return FileVisitResult.CONTINUE;
            }
            if (isSkipped(directory)) {
                return FileVisitResult.SKIP_SUBTREE;
            }
            count(attributes);
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            if (isSkipped(file)) {
                return FileVisitResult.CONTINUE;
            }
            count(attributes);
            if (attributes.isRegularFile()) {
                byteSize += attributes.size();
            }
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFileFailed(Path file, IOException failure) throws IOException {
            if (file.equals(root)) {
                throw failure;
            }
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException failure) {
            return FileVisitResult.CONTINUE;
        }

        private boolean isSkipped(Path path) {
            return root.equals(path.getParent()) && skipped.test(path);
        }

        private void count(BasicFileAttributes attributes) {
            newestNanos = Math.max(newestNanos, attributes.lastModifiedTime().to(TimeUnit.NANOSECONDS));
            entryCount++;
        }
    }
}
