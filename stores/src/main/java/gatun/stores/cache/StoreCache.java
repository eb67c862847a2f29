// SPDX-License-Identifier: Apache-2.0
package gatun.stores.cache;

import gatun.stores.client.StoreException;
import gatun.stores.client.StoreException.Kind;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fetched files on disk, kept from one start to the next and shared by the servers of a user. A file comes into it by one
 * rename when all its bytes are on the disk, so a process that is killed leaves nothing half done. Servers link (hard)
 * the files that they use, so one that nobody uses has a single link; of those, the ones that were not used for the
 * longest time make room. Safe for any thread.
 */
public final class StoreCache implements AutoCloseable {
    /** One for all caches of the process: a file lock belongs to the process, and not to a thread. */
    private static final ReentrantLock ADMISSION = new ReentrantLock();

    private final Path root;
    private final long byteLimit;
    private final ServerFolder own;
    private final AtomicLong names = new AtomicLong();

    private StoreCache(Path root, long byteLimit, ServerFolder own) {
        this.root = root;
        this.byteLimit = byteLimit;
        this.own = own;
    }

    /**
     * Opens a cache of {@code byteLimit} bytes, and removes what killed processes left. {@code root} is made when it is
     * not there. Throws {@link IOException}, which names the folder.
     */
    public static StoreCache open(Path root, long byteLimit) throws IOException {
        try {
            if (!Files.isDirectory(root)) {
                Files.createDirectories(root.toAbsolutePath().getParent());
                Files.createDirectories(
                        root, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            }
            Path servers = Files.createDirectories(root.resolve("servers"));
            Files.createDirectories(root.resolve("objects"));
            Files.createDirectories(root.resolve("listings"));
            ServerFolder.removeAbandoned(servers);
            ServerFolder own = ServerFolder.make(servers);
            Files.createDirectory(own.path().resolve("staging"));
            Files.createDirectory(own.path().resolve("snapshots"));
            return new StoreCache(root, byteLimit, own);
        } catch (FileSystemException e) {
            throw new IOException(
                    "the cache of stores " + root + " cannot be used ("
                            + (e instanceof AccessDeniedException ? "access is denied" : e.getMessage())
                            + "); name another folder with --store-cache-dir",
                    e);
        }
    }

    /** The name in the cache for what the parts identify. */
    public static String key(String... parts) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            for (String part : parts) {
                digest.update(part.getBytes(StandardCharsets.UTF_8));
                digest.update((byte) 0);
            }
            return HexFormat.of().formatHex(digest.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    private Path object(String key) {
        return root.resolve("objects").resolve(key.substring(0, 2)).resolve(key.substring(2));
    }

    /** Whether the file is there with that size. */
    public boolean holds(String key, long byteSize) {
        try {
            return Files.size(object(key)) == byteSize;
        } catch (IOException e) {
            return false;
        }
    }

    /** Links a file of the cache; true when it was there with that size. */
    public boolean link(String key, long byteSize, Path target) throws IOException {
        Path object = object(key);
        if (!holds(key, byteSize)) {
            return false;
        }
        try {
            Files.createLink(target, object);
        } catch (NoSuchFileException e) {
            // Another server has made room with it just now.
            return false;
        }
        Files.getFileAttributeView(object, BasicFileAttributeView.class)
                .setTimes(null, FileTime.from(Instant.now()), null);
        return true;
    }

    /** A name for a file on its way into the cache; it is removed with this server if it never gets there. */
    public Path staging() {
        return own.path().resolve("staging").resolve(Long.toString(names.incrementAndGet()));
    }

    /** A new folder for a state of a model; it goes with this server. */
    public Path newSnapshot() throws IOException {
        return Files.createDirectory(own.path().resolve("snapshots").resolve(Long.toString(names.incrementAndGet())));
    }

    /** A new folder of this server. */
    public Path newParent() throws IOException {
        return Files.createDirectory(own.path().resolve(Long.toString(names.incrementAndGet())));
    }

    /** Takes a file of {@link #staging} into the cache, once its bytes are on the disk. */
    public void admit(Path staged, String key) throws IOException {
        try (FileChannel channel = FileChannel.open(staged, StandardOpenOption.WRITE)) {
            channel.force(true);
        }
        Files.setPosixFilePermissions(staged, PosixFilePermissions.fromString("r--r--r--"));
        Path object = object(key);
        Files.createDirectories(object.getParent());
        Files.move(staged, object, StandardCopyOption.ATOMIC_MOVE);
    }

    /** Removes a folder of {@link #newSnapshot}. */
    public void discard(Path snapshot) throws IOException {
        ServerFolder.delete(snapshot);
    }

    private record CachedFile(Path path, String key, long byteSize, FileTime used, boolean linked) {}

    /**
     * Makes room for {@code byteSize} bytes, without removing the files of keys {@code kept}, which are about to be
     * linked. Throws {@link StoreException} LIMIT when servers use too much.
     */
    public void makeRoom(long byteSize, Set<String> kept) throws IOException {
        ADMISSION.lock();
        try (FileChannel channel =
                        FileChannel.open(root.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock held = channel.lock()) {
            List<CachedFile> files = files();
            long used = files.stream().mapToLong(CachedFile::byteSize).sum() + staged();
            List<CachedFile> removable = files.stream()
                    .filter(file -> !file.linked() && !kept.contains(file.key()))
                    .sorted(Comparator.comparing(CachedFile::used))
                    .toList();
            long fixed =
                    used - removable.stream().mapToLong(CachedFile::byteSize).sum();
            if (fixed > byteLimit - byteSize) {
                throw new StoreException(
                        Kind.LIMIT,
                        "the cache of stores " + root + " may hold " + byteLimit + " bytes: " + byteSize
                                + " more have no room beside the " + fixed
                                + " that are in use; allow more with --store-cache-byte-size");
            }
            for (CachedFile file : removable) {
                if (used <= byteLimit - byteSize) {
                    break;
                }
                Files.deleteIfExists(file.path());
                used -= file.byteSize();
            }
            assert held.isValid();
        } finally {
            ADMISSION.unlock();
        }
    }

    private List<CachedFile> files() throws IOException {
        Path objects = root.resolve("objects");
        List<CachedFile> files = new ArrayList<>();
        try (Stream<Path> below = Files.walk(objects)) {
            for (Path path : below.toList()) {
                try {
                    BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class);
                    if (attributes.isRegularFile()) {
                        files.add(new CachedFile(
                                path,
                                objects.relativize(path).toString().replace("/", ""),
                                attributes.size(),
                                attributes.lastAccessTime(),
                                Objects.requireNonNull((Integer) Files.getAttribute(path, "unix:nlink")) > 1));
                    }
                } catch (NoSuchFileException e) {
                    // Gone meanwhile.
                }
            }
        }
        return files;
    }

    /** How many bytes are on their way, to any server. */
    private long staged() throws IOException {
        long bytes = 0;
        try (DirectoryStream<Path> servers = Files.newDirectoryStream(root.resolve("servers"))) {
            for (Path server : servers) {
                try (DirectoryStream<Path> files = Files.newDirectoryStream(server.resolve("staging"))) {
                    for (Path file : files) {
                        bytes += Files.size(file);
                    }
                } catch (NoSuchFileException | NotDirectoryException e) {
                    // A file has arrived, or a server has ended, meanwhile.
                }
            }
        }
        return bytes;
    }

    /** Keeps a text for later starts. */
    public void remember(String key, String text) throws IOException {
        Path staged = staging();
        Files.writeString(staged, text);
        try (FileChannel channel = FileChannel.open(staged, StandardOpenOption.WRITE)) {
            channel.force(true);
        }
        Files.move(staged, root.resolve("listings").resolve(key), StandardCopyOption.ATOMIC_MOVE);
    }

    /** A text that was kept, and when. */
    public record Remembered(String text, Instant time) {}

    /** The text that was kept last; empty for none. */
    public Optional<Remembered> recall(String key) {
        Path file = root.resolve("listings").resolve(key);
        try {
            return Optional.of(new Remembered(
                    Files.readString(file), Files.getLastModifiedTime(file).toInstant()));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** The most bytes that files may have together. */
    public long byteLimit() {
        return byteLimit;
    }

    /** Gives up what this server has linked. Files of the cache stay. */
    @Override
    public void close() throws IOException {
        own.close();
    }

    /** A running server's folder, with a file that it locks for life. The next server removes folders without lock. */
    static final class ServerFolder implements AutoCloseable {
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
}
