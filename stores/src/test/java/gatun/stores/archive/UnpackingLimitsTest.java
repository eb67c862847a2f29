// SPDX-License-Identifier: Apache-2.0
package gatun.stores.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import gatun.stores.client.StoreException;
import gatun.stores.client.StoreException.Kind;
import gatun.stores.location.ArchiveLocation.Format;
import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Archives that were made to fill the heap, the disk, or the time of a processor. */
class UnpackingLimitsTest {
    private static final long BYTE_LIMIT = 1L << 32;
    private static final byte[] MEBIBYTE = new byte[1 << 20];

    @TempDir
    Path folder;

    private Path target;

    @BeforeEach
    void makeTarget() throws IOException {
        target = Files.createDirectory(folder.resolve("target"));
    }

    /** Writes what is in a tar file, before its compression. */
    private interface Content {
        void write(OutputStream out) throws IOException;
    }

    private Path tarGz(Content content) throws IOException {
        Path archive = folder.resolve("a.tar.gz");
        try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(archive), 1 << 16)) {
            content.write(out);
        }
        return archive;
    }

    private void refuse(Kind kind, Path archive, Format format, String reason) {
        assertThatExceptionOfType(StoreException.class)
                .isThrownBy(() -> Unpacking.unpack(archive, format, target, BYTE_LIMIT))
                .withMessageContaining(reason)
                .satisfies(failure -> assertThat(failure.kind()).isEqualTo(kind));
    }

    @ParameterizedTest
    @ValueSource(chars = {'x', 'g', 'L', 'K'})
    void shouldRefuseHeadersWithoutAnEntry(char type) throws IOException {
        Path archive = tarGz(out -> {
            for (int i = 0; i < 4096; i++) {
                out.write(TarBytes.entry("a", type, "31 key-%08d=%s\n".formatted(i, "v".repeat(10)), ""));
            }
        });

        refuse(Kind.LIMIT, archive, Format.TAR_GZ, "more than 8 headers before one of its entries");
    }

    @Test
    void shouldRefuseFoldersWithContent() throws IOException {
        Path archive = tarGz(out -> {
            out.write(TarBytes.header("a", '5', 1L << 40, ""));
            for (int i = 0; i < 257; i++) {
                out.write(MEBIBYTE);
            }
        });

        refuse(Kind.LIMIT, archive, Format.TAR_GZ, "bytes of headers");
    }

    @Test
    void shouldRefuseToUnpackToManyTimesTheSize() throws IOException {
        Path archive = tarGz(out -> {
            out.write(TarBytes.header("zeros", '0', 1L << 31, ""));
            for (int i = 0; i < 257; i++) {
                out.write(MEBIBYTE);
            }
        });

        refuse(Kind.LIMIT, archive, Format.TAR_GZ, "128 times its own size");
        assertThat(Files.size(target.resolve("zeros"))).isLessThanOrEqualTo(256L << 20);
    }

    @ParameterizedTest
    @ValueSource(strings = {"./", "/", "a/"})
    void shouldRefuseALongNameBeforeItIsTakenApart(String part) throws IOException {
        Path archive = tarGz(out -> {
            out.write(TarBytes.entry("long", 'L', part.repeat(30_000) + "a", ""));
            out.write(TarBytes.entry("short", '0', "", ""));
        });

        refuse(Kind.MALFORMED, archive, Format.TAR_GZ, "is longer than a file's path may be, 2048 bytes");
    }

    @Test
    void shouldCountTheFoldersThatNamesTellOf() throws IOException {
        Path archive = tarGz(out -> {
            for (int i = 0; i < 4; i++) {
                out.write(TarBytes.entry(i + "/a".repeat(31), '0', "", ""));
            }
        });

        assertThatExceptionOfType(StoreException.class)
                .isThrownBy(() -> Unpacking.unpack(archive, Format.TAR_GZ, target, BYTE_LIMIT, 100))
                .withMessageContaining("more than 100 files and folders");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldRefuseADirectoryThatFillsTheHeap(boolean zip64) throws IOException {
        int directoryBytes = 200_000_000;
        Path archive = folder.resolve("a.zip");
        try (RandomAccessFile file = new RandomAccessFile(archive.toFile(), "rw")) {
            // Four million entries, of which the disk keeps none.
            file.seek(directoryBytes);
            if (zip64) {
                file.write(record(56)
                        .putInt(0, 0x06064b50)
                        .putLong(4, 44)
                        .putLong(24, 4_000_000)
                        .putLong(32, 4_000_000)
                        .putLong(40, directoryBytes)
                        .array());
                file.write(record(20)
                        .putInt(0, 0x07064b50)
                        .putLong(8, directoryBytes)
                        .putInt(16, 1)
                        .array());
            }
            file.write(record(22)
                    .putInt(0, 0x06054b50)
                    .putShort(8, (short) -1)
                    .putShort(10, (short) -1)
                    .putInt(12, zip64 ? -1 : directoryBytes)
                    .putInt(16, zip64 ? -1 : 0)
                    .array());
        }

        refuse(Kind.LIMIT, archive, Format.ZIP, "has a directory of 200000000 bytes; expected at most");
    }

    private static ByteBuffer record(int byteSize) {
        return ByteBuffer.allocate(byteSize).order(ByteOrder.LITTLE_ENDIAN);
    }

    @Test
    void shouldEndWhenItsThreadIsInterrupted() throws IOException {
        Path archive = tarGz(out -> out.write(TarBytes.entry("a", '0', "content", "")));

        Thread.currentThread().interrupt();

        refuse(Kind.UNAVAILABLE, archive, Format.TAR_GZ, "interrupted");
        assertThat(Thread.interrupted()).isTrue();
        assertThat(target).isEmptyDirectory();
    }
}
