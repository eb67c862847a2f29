// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.memory.tensor.IoFailure;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The folder of this server, among the system's temporary ones, for files that load requests bring, and those of
 * backends. The server holds a lock on a file in it for as long as it lives, however it ends; a folder whose lock
 * nobody holds is one of a server that died, and the next removes it. Safe for any thread.
 */
public final class TemporaryFolder implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(TemporaryFolder.class);
    private static final String PREFIX = "gatun-server-";

    /** Begins the names of folders that are not locked yet, which nobody removes. */
    private static final String NEW_PREFIX = "gatun-new-server-";

    private static final String LOCK = "lock";

    /** The folders of this process: to open and close a file gives up all locks that the process has on it. */
    private static final Set<Path> OWN = ConcurrentHashMap.newKeySet();

    private final Path parent;
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable Path root; // guarded by lock
    private @Nullable FileChannel locked; // guarded by lock

    /** A folder among the system's temporary ones, made when it is first needed. */
    public TemporaryFolder() {
        this(Path.of(System.getProperty("java.io.tmpdir")));
    }

    /** @param parent where the folder of each server is */
    TemporaryFolder(Path parent) {
        this.parent = parent;
    }

    /** A new folder in this one that only this user can read. It goes with this one at the latest. */
    public Path newFolder() throws IOException {
        lock.lock();
        try {
            Path made = root;
            if (made == null) {
                made = make();
                root = made;
            }
            return Files.createTempDirectory(made, "files-");
        } finally {
            lock.unlock();
        }
    }

    private Path make() throws IOException {
        Path unlocked = Files.createTempDirectory(parent, NEW_PREFIX);
        FileChannel channel =
                FileChannel.open(unlocked.resolve(LOCK), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        FileLock held = channel.tryLock();
        if (held == null) {
            channel.close();
            throw new IOException("somebody else has locked a file that was just made in " + unlocked);
        }
        locked = channel; // Closing it would give the lock up.
        String name = unlocked.getFileName().toString().replaceFirst(NEW_PREFIX, PREFIX);
        Path named = parent.resolve(name);
        OWN.add(named);
        return Files.move(unlocked, named, StandardCopyOption.ATOMIC_MOVE);
    }

    /** Removes the folders of servers that died. What cannot be removed is logged. */
    void removeAbandoned() {
        try (DirectoryStream<Path> folders = Files.newDirectoryStream(parent, PREFIX + "*")) {
            for (Path folder : folders) {
                removeIfAbandoned(folder);
            }
        } catch (IOException e) {
            LOG.warn("The temporary folders of earlier servers cannot be looked for: {}", IoFailure.describe(e));
        }
    }

    private static void removeIfAbandoned(Path folder) {
        if (OWN.contains(folder)
                || !Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)
                || !Files.isWritable(folder)) {
            return;
        }
        try (FileChannel channel = FileChannel.open(folder.resolve(LOCK), StandardOpenOption.WRITE);
                FileLock held = channel.tryLock()) {
            if (held != null) {
                LOG.info("Removing {}, which a server that died has left", folder);
                delete(folder);
            }
        } catch (IOException e) {
            LOG.debug("{} is being removed by another server, or is another user's", folder, e);
        }
    }

    /** Removes a folder and what it holds; mapped files stay readable where they are mapped. Idempotent. */
    static void delete(Path folder) {
        if (!Files.exists(folder)) {
            return;
        }
        try (Stream<Path> below = Files.walk(folder)) {
            List<Path> paths = below.sorted(Comparator.reverseOrder()).toList();
            for (Path path : paths) {
                Files.deleteIfExists(path);
            }
        } catch (IOException e) {
            LOG.warn("The temporary files cannot be removed from {}: {}", folder, IoFailure.describe(e));
        }
    }

    /** Removes the folder, and gives the lock up. */
    @Override
    public void close() {
        lock.lock();
        try {
            if (root != null) {
                delete(root);
                OWN.remove(root);
                root = null;
            }
            if (locked != null) {
                locked.close();
                locked = null;
            }
        } catch (IOException e) {
            LOG.debug("The lock of the temporary folder could not be given up", e);
        } finally {
            lock.unlock();
        }
    }
}
