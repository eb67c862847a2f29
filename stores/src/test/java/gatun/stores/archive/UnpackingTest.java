// SPDX-License-Identifier: Apache-2.0
package gatun.stores.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import gatun.stores.client.StoreException;
import gatun.stores.client.StoreException.Kind;
import gatun.stores.location.ArchiveLocation.Format;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UnpackingTest {
    private static final int BYTE_LIMIT = 1 << 20;

    @TempDir
    Path folder;

    private Path target;

    @BeforeEach
    void makeTarget() throws IOException {
        target = Files.createDirectory(folder.resolve("target"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"ustar", "pax", "gnu", "oldgnu"})
    void shouldUnpackWhatTarWrites(String format) throws IOException, InterruptedException {
        Path source = Files.createDirectories(folder.resolve("source"));
        String deep = "model/1/" + "long".repeat(20) + "/" + "name".repeat(15) + "/ü.bin";
        Files.createDirectories(source.resolve(deep).getParent());
        Files.writeString(source.resolve(deep), "content");
        Files.writeString(source.resolve("model/config.pbtxt"), "");
        Path archive = folder.resolve("a.tar.gz");
        int status = new ProcessBuilder(
                        "tar", "--format=" + format, "-czf", archive.toString(), "-C", source.toString(), ".")
                .inheritIO()
                .start()
                .waitFor();

        Unpacking.unpack(archive, Format.TAR_GZ, target, BYTE_LIMIT);

        assertThat(status).isZero();
        assertThat(target.resolve(deep)).hasContent("content");
        assertThat(target.resolve("model/config.pbtxt")).isEmptyFile();
    }

    @Test
    void shouldUnpackZip() throws IOException {
        Unpacking.unpack(zip("model/1/model.onnx", "model/"), Format.ZIP, target, BYTE_LIMIT);

        assertThat(target.resolve("model/1/model.onnx")).hasContent("content");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "../outside",
                "/etc/outside",
                "a/../../outside",
                "a/./b",
                "a//b",
                "..",
                "a\u0001b",
                "x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x"
            })
    void shouldRefuseNamesThatLeadElsewhere(String name) throws IOException {
        Path tar = tar(TarBytes.entry(name, '0', "content", ""));
        Path zip = zip(name);

        refuse(Kind.MALFORMED, tar, Format.TAR);
        refuse(Kind.MALFORMED, zip, Format.ZIP);
        assertThat(folder.resolve("outside")).doesNotExist();
    }

    @ParameterizedTest
    @ValueSource(chars = {'1', '2', '3', '4', '6'})
    void shouldRefuseLinksAndDevices(char type) throws IOException {
        refuse(Kind.MALFORMED, tar(TarBytes.entry("a", type, "", "/etc/passwd")), Format.TAR);
        assertThat(target).isEmptyDirectory();
    }

    @Test
    void shouldRefuseABomb() throws IOException {
        Path bomb = folder.resolve("bomb.tar.gz");
        try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(bomb))) {
            out.write(TarBytes.header("zeros", '0', 1L << 33, ""));
            for (int i = 0; i < 4096; i++) {
                out.write(new byte[1 << 10]);
            }
        }
        Path zip = folder.resolve("bomb.zip");
        try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(zip))) {
            out.putNextEntry(new ZipEntry("zeros"));
            out.write(new byte[4 << 20]);
        }

        refuse(Kind.LIMIT, bomb, Format.TAR_GZ);
        assertThat(Files.size(target.resolve("zeros"))).isLessThanOrEqualTo(BYTE_LIMIT);
        Files.delete(target.resolve("zeros"));
        refuse(Kind.LIMIT, zip, Format.ZIP);
    }

    @Test
    void shouldRefuseMoreEntriesThanTheLimit() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        byte[] same = TarBytes.header("./", '5', 0, "");
        for (int i = 0; i <= Unpacking.ENTRY_LIMIT; i++) {
            bytes.write(same);
        }

        refuse(Kind.LIMIT, Files.write(folder.resolve("a.tar"), bytes.toByteArray()), Format.TAR);
    }

    @Test
    void shouldRefuseNamesThatComeTwice() throws IOException {
        refuse(Kind.MALFORMED, tar(TarBytes.entry("a", '0', "1", ""), TarBytes.entry("a", '0', "2", "")), Format.TAR);
        refuse(Kind.MALFORMED, tar(TarBytes.entry("b", '0', "1", ""), TarBytes.entry("b/c", '0', "2", "")), Format.TAR);
    }

    @Test
    void shouldRefuseWhatIsCutShortOrNoArchive() throws IOException {
        byte[] whole = Files.readAllBytes(tar(TarBytes.entry("a", '0', "content", "")));
        Path cut = Files.write(folder.resolve("cut.tar"), Arrays.copyOf(whole, 515));

        refuse(Kind.MALFORMED, cut, Format.TAR);
        Path text = Files.writeString(folder.resolve("text"), "<html>".repeat(1000));
        for (Format format : Format.values()) {
            refuse(Kind.MALFORMED, text, format);
        }
    }

    private void refuse(Kind kind, Path archive, Format format) {
        assertThatExceptionOfType(StoreException.class)
                .isThrownBy(() -> Unpacking.unpack(archive, format, target, BYTE_LIMIT))
                .satisfies(failure -> assertThat(failure.kind()).isEqualTo(kind));
    }

    private Path zip(String... names) throws IOException {
        Path archive = folder.resolve("a.zip");
        try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(archive))) {
            for (String name : List.of(names)) {
                out.putNextEntry(new ZipEntry(name));
                if (!name.endsWith("/")) {
                    out.write("content".getBytes(StandardCharsets.UTF_8));
                }
            }
        }
        return archive;
    }

    private Path tar(byte[]... entries) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (byte[] entry : entries) {
            bytes.write(entry);
        }
        bytes.write(new byte[1024]);
        return Files.write(folder.resolve("a.tar"), bytes.toByteArray());
    }
}
