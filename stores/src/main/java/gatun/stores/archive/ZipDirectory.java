// SPDX-License-Identifier: Apache-2.0
package gatun.stores.archive;

import gatun.stores.client.StoreException;
import gatun.stores.client.StoreException.Kind;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;

/**
 * The size of a zip file's central directory, which {@link java.util.zip.ZipFile} reads into the heap as a whole when it
 * opens the file. The records that tell the size lie at the end of the file, and more than one may look like the right
 * one, so each has to keep within the limit.
 */
final class ZipDirectory {
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

    /**
     * Checks a file before it is opened.
     *
     * @throws StoreException LIMIT when its central directory has more than {@link #BYTE_LIMIT} bytes
     */
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

    /** No size that the file itself has no room for is ever read. */
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
