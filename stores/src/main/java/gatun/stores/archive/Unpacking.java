// SPDX-License-Identifier: Apache-2.0
package gatun.stores.archive;

import gatun.stores.client.ObjectPath;
import gatun.stores.client.StoreException;
import gatun.stores.client.StoreException.Kind;
import gatun.stores.location.ArchiveLocation.Format;
import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Enumeration;
import java.util.Objects;
import java.util.Optional;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipException;
import java.util.zip.ZipFile;

/** Unpacks a foreign archive into an empty folder: nothing outside, no links, within limits. */
public final class Unpacking {
    /** The most files and folders, with folders that only the names of others tell of. */
    public static final int ENTRY_LIMIT = 100_000;

    /** More than weights are ever compressed to. Archives that were made to fill a disk have up to 1,032, or any number. */
    static final int RATIO_LIMIT = 128;

    /** What an archive may unpack to whatever its own size, since files of zeros are small enough to do no harm. */
    static final long ANY_RATIO_BYTES = 256L << 20;

    private final Path target;
    private final long byteLimit;
    private final long expansionLimit;
    private final int entryLimit;
    private final byte[] buffer = new byte[1 << 16];
    private long bytes;
    private int entries;

    private Unpacking(Path target, long byteLimit, long expansionLimit, int entryLimit) {
        this.target = target;
        this.byteLimit = byteLimit;
        this.expansionLimit = expansionLimit;
        this.entryLimit = entryLimit;
    }

    /**
     * Unpacks at most {@code byteLimit} bytes into an empty folder, which the caller removes after a failure. Throws
     * {@link StoreException} MALFORMED or LIMIT, or UNAVAILABLE when the thread is interrupted.
     */
    public static void unpack(Path archive, Format format, Path target, long byteLimit) throws IOException {
        unpack(archive, format, target, byteLimit, ENTRY_LIMIT);
    }

    static void unpack(Path archive, Format format, Path target, long byteLimit, int entryLimit) throws IOException {
        long expansionLimit = Math.max(ANY_RATIO_BYTES, Files.size(archive) * RATIO_LIMIT);
        Unpacking unpacking = new Unpacking(target, byteLimit, expansionLimit, entryLimit);
        try {
            switch (format) {
                case ZIP -> unpacking.zip(archive);
                case TAR -> {
                    try (InputStream in = new BufferedInputStream(Files.newInputStream(archive), 1 << 16)) {
                        unpacking.tar(in);
                    }
                }
                case TAR_GZ -> {
                    try (InputStream in = new BufferedInputStream(
                            new GZIPInputStream(Files.newInputStream(archive), 1 << 16), 1 << 16)) {
                        unpacking.tar(in);
                    }
                }
            }
        } catch (ZipException | EOFException e) {
            throw new StoreException(Kind.MALFORMED, "the archive cannot be read: " + e.getMessage(), e);
        } catch (IllegalArgumentException e) {
            // Of names in a zip file that are no UTF-8.
            throw new StoreException(Kind.MALFORMED, "the archive has a name that cannot be read", e);
        }
    }

    private interface Content {
        int read(byte[] bytes) throws IOException;
    }

    private void zip(Path archive) throws IOException {
        ZipDirectory.requireSmall(archive);
        try (ZipFile zip = new ZipFile(archive.toFile())) {
            for (Enumeration<? extends ZipEntry> all = zip.entries(); all.hasMoreElements(); ) {
                ZipEntry entry = all.nextElement();
                if (entry.isDirectory()) {
                    folder(entry.getName());
                } else {
                    try (InputStream content = zip.getInputStream(entry)) {
                        file(entry.getName(), content::read);
                    }
                }
            }
        }
    }

    private void tar(InputStream in) throws IOException {
        TarReader reader = new TarReader(in);
        for (Optional<TarReader.Entry> entry = reader.next(); entry.isPresent(); entry = reader.next()) {
            if (entry.get().folder()) {
                folder(entry.get().name());
            } else {
                file(entry.get().name(), reader::read);
            }
        }
    }

    /** The place of an entry; empty for the folder itself, as {@code ./}. */
    private Optional<Path> place(String name) throws IOException {
        requireNotInterrupted();
        count();
        ObjectPath.requireLength(name);
        int from = 0;
        while (name.startsWith("./", from)) {
            from += 2;
        }
        int to = name.length();
        while (to > from && name.charAt(to - 1) == '/') {
            to--;
        }
        String path = name.substring(from, to);
        if (path.isEmpty() || path.equals(".")) {
            return Optional.empty();
        }
        ObjectPath.require(path, name);
        return Optional.of(target.resolve(path));
    }

    private void count() throws StoreException {
        if (++entries > entryLimit) {
            throw new StoreException(Kind.LIMIT, "the archive has more than " + entryLimit + " files and folders");
        }
    }

    private static void requireNotInterrupted() throws StoreException {
        if (Thread.currentThread().isInterrupted()) {
            throw new StoreException(Kind.UNAVAILABLE, "interrupted while the archive was unpacked");
        }
    }

    private void folder(String name) throws IOException {
        Optional<Path> place = place(name);
        try {
            if (place.isPresent() && !Files.isDirectory(place.get())) {
                makeFoldersAbove(place.get());
                Files.createDirectory(place.get());
            }
        } catch (FileAlreadyExistsException e) {
            throw ObjectPath.refusal(name, "is in the archive as a file and as a folder");
        }
    }

    private void makeFoldersAbove(Path path) throws IOException {
        Path folder = Objects.requireNonNull(path.getParent(), "it lies below the target");
        if (!Files.isDirectory(folder)) {
            makeFoldersAbove(folder);
            count();
            Files.createDirectory(folder);
        }
    }

    private void file(String name, Content content) throws IOException {
        Path file = place(name).orElseThrow(() -> ObjectPath.refusal(name, "is no name of a file"));
        try {
            makeFoldersAbove(file);
        } catch (FileSystemException e) {
            throw ObjectPath.refusal(name, "cannot be a file: another is called as one of its folders");
        }
        try (OutputStream out = Files.newOutputStream(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            for (int n = content.read(buffer); n >= 0; n = content.read(buffer)) {
                requireNotInterrupted();
                bytes += n;
                requireExpansion();
                out.write(buffer, 0, n);
            }
        } catch (FileAlreadyExistsException e) {
            throw ObjectPath.refusal(name, "is in the archive twice");
        }
    }

    private void requireExpansion() throws StoreException {
        if (bytes > byteLimit) {
            throw new StoreException(
                    Kind.LIMIT,
                    "the archive unpacks to more than " + byteLimit
                            + " bytes; allow more with --store-cache-byte-size");
        }
        if (bytes > expansionLimit) {
            throw new StoreException(
                    Kind.LIMIT,
                    "the archive unpacks to more than " + expansionLimit + " bytes, " + RATIO_LIMIT
                            + " times its own size, which no model does; fetch and unpack it yourself if it is right");
        }
    }

    /**
     * The size of a zip file's central directory, all of which {@link java.util.zip.ZipFile} reads into the heap.
     * Several records at the file's end may look like the one that tells it, so each must keep the limit.
     */
    static final class ZipDirectory {
        /** Four times what {@link Unpacking#ENTRY_LIMIT} entries with names of 80 bytes take. */
        static final long BYTE_LIMIT = 48L << 20;

        private static final int END_BYTES = 22;
        private static final int END_SIGNATURE = 0x06054b50;
        private static final int END_SIZE_AT = 12;

        private static final int LOCATOR_BYTES = 20;
        private static final int LOCATOR_SIGNATURE = 0x07064b50;
        private static final int LOCATOR_OFFSET_AT = 8;

        private static final int END64_BYTES = 56;
        private static final int END64_SIGNATURE = 0x06064b50;
        private static final int END64_SIZE_AT = 40;

        /** The end record with the longest comment, and the block by which the JDK looks for it. */
        private static final int TAIL_BYTES = END_BYTES + 0xffff + 128 + LOCATOR_BYTES;

        private ZipDirectory() {}

        /** Throws {@link StoreException} LIMIT when the directory has more than {@link #BYTE_LIMIT} bytes. */
        static void requireSmall(Path archive) throws IOException {
            try (RandomAccessFile file = new RandomAccessFile(archive.toFile(), "r")) {
                if (file.length() <= BYTE_LIMIT) {
                    return;
                }
                ByteBuffer tail = read(file, file.length() - TAIL_BYTES, TAIL_BYTES);
                for (int at = 0; at <= TAIL_BYTES - END_BYTES; at++) {
                    if (tail.getInt(at) == END_SIGNATURE) {
                        requireSmall(Integer.toUnsignedLong(tail.getInt(at + END_SIZE_AT)), file.length());
                    }
                    if (tail.getInt(at) == LOCATOR_SIGNATURE) {
                        requireSmall(file, tail.getLong(at + LOCATOR_OFFSET_AT));
                    }
                }
            }
        }

        /** Checks the record of a file in the form for many entries (ZIP64), where there is one at {@code offset}. */
        private static void requireSmall(RandomAccessFile file, long offset) throws IOException {
            if (offset >= 0 && offset <= file.length() - END64_BYTES) {
                ByteBuffer end = read(file, offset, END64_BYTES);
                if (end.getInt(0) == END64_SIGNATURE) {
                    requireSmall(end.getLong(END64_SIZE_AT), file.length());
                }
            }
        }

        private static void requireSmall(long byteSize, long fileByteSize) throws StoreException {
            if (byteSize > BYTE_LIMIT && byteSize < fileByteSize) {
                throw new StoreException(
                        Kind.LIMIT,
                        "the archive has a directory of " + byteSize + " bytes; expected at most " + BYTE_LIMIT
                                + ", for up to " + Unpacking.ENTRY_LIMIT + " files and folders");
            }
        }

        private static ByteBuffer read(RandomAccessFile file, long offset, int length) throws IOException {
            byte[] bytes = new byte[length];
            file.seek(offset);
            file.readFully(bytes);
            return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        }
    }
}
