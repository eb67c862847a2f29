// SPDX-License-Identifier: Apache-2.0
package gatun.stores.cache;

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
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A folder in the cache that belongs to one running server, which holds a lock on a file in it for as long as it lives,
 * however it ends. Folders whose lock nobody holds are removed by the next server.
 */
final class ServerFolder implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ServerFolder.class);
    private static final String LOCK = "lock";
    private static final String PREFIX = "server-";

    /** Of folders that are not locked yet, which nobody removes. */
    private static final String NEW_PREFIX = "new-";

    /** Those of this process: to open and close a file gives up all locks that the process has on it. */
    private static final Set<Path> OWN = ConcurrentHashMap.newKeySet();

    private final Path path;
    private final FileChannel locked;

    private ServerFolder(Path path, FileChannel locked) {
        this.path = path;
        this.locked = locked;
    }

    /** Makes one in {@code parent}. */
    static ServerFolder make(Path parent) throws IOException {
        Path unlocked = Files.createTempDirectory(parent, NEW_PREFIX);
        FileChannel channel =
                FileChannel.open(unlocked.resolve(LOCK), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        FileLock held = channel.tryLock();
        if (held == null) {
            channel.close();
            throw new IOException("somebody else has locked a file that was just made in " + unlocked);
        }
        String name = unlocked.getFileName().toString().replaceFirst(NEW_PREFIX, PREFIX);
        Path named = parent.resolve(name).toAbsolutePath();
        OWN.add(named);
        Files.move(unlocked, named, StandardCopyOption.ATOMIC_MOVE);
        return new ServerFolder(named, channel);
    }

    Path path() {
        return path;
    }

    /** Removes those of servers that died. What cannot be removed is logged. */
    static void removeAbandoned(Path parent) throws IOException {
        try (DirectoryStream<Path> folders = Files.newDirectoryStream(parent, PREFIX + "*")) {
            for (Path folder : folders) {
                removeIfAbandoned(folder.toAbsolutePath());
            }
        }
    }

    private static void removeIfAbandoned(Path folder) {
        if (OWN.contains(folder) || !Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        try (FileChannel channel = FileChannel.open(folder.resolve(LOCK), StandardOpenOption.WRITE);
                FileLock held = channel.tryLock()) {
            if (held != null) {
                delete(folder);
            }
        } catch (IOException e) {
            LOG.debug("{} is being removed by another server", folder, e);
        }
    }

    /** Removes a folder and what is in it; links are removed, and not what they lead to. */
    static void delete(Path folder) throws IOException {
        if (!Files.exists(folder, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        try (Stream<Path> below = Files.walk(folder)) {
            List<Path> paths = below.sorted(Comparator.reverseOrder()).toList();
            for (Path path : paths) {
                Files.deleteIfExists(path);
            }
        }
    }

    @Override
    public void close() throws IOException {
        delete(path);
        OWN.remove(path);
        locked.close();
    }
}
