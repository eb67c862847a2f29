// SPDX-License-Identifier: Apache-2.0
package gatun.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.protocol.Endpoint;
import gatun.protocol.Endpoint.Kind;
import gatun.server.settings.StartException;
import java.io.IOException;
import java.io.Reader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReadyFileTest {
    @TempDir
    Path folder;

    private static Properties read(Path file) throws IOException {
        Properties properties = new Properties();
        try (Reader in = Files.newBufferedReader(file)) {
            properties.load(in);
        }
        return properties;
    }

    @Test
    void shouldTellEveryAddressUntilClosed() throws Exception {
        Path file = folder.resolve("ready");
        InetAddress loopback = InetAddress.ofLiteral("127.0.0.1");
        try (ReadyFile ready = ReadyFile.write(
                file,
                List.of(
                        new Endpoint(Kind.HTTP, new InetSocketAddress(loopback, 18000)),
                        new Endpoint(Kind.HTTP, UnixDomainSocketAddress.of("/tmp/a b\\é")),
                        new Endpoint(Kind.METRICS, new InetSocketAddress(18002))))) {
            assertThat(ready).isNotNull();
            assertThat(read(file))
                    .containsEntry("pid", Long.toString(ProcessHandle.current().pid()))
                    .containsEntry("http.url", "http://127.0.0.1:18000")
                    .containsEntry("http.port", "18000")
                    .containsEntry("http.unix-socket", "/tmp/a b\\é")
                    .containsEntry("metrics.url", "http://localhost:18002/metrics");
            assertThat(folder.toFile().list()).containsExactly("ready");
        }
        assertThat(file).doesNotExist();
    }

    @Test
    void shouldNameTheFlagWhereTheFileCannotBeWritten() {
        Path file = folder.resolve("missing").resolve("ready");
        assertThatThrownBy(() -> ReadyFile.write(file, List.of()))
                .isInstanceOf(StartException.class)
                .hasMessageContaining("--ready-file=" + file);
        assertThatThrownBy(() -> ReadyFile.removeStale(file))
                .isInstanceOf(StartException.class)
                .hasMessageContaining("--ready-file=" + file + " cannot be written: no such file or directory");
    }

    @Test
    void shouldRemoveWhatAnEarlierServerLeft() throws Exception {
        Path file = Files.writeString(folder.resolve("ready"), "pid=1");
        ReadyFile.removeStale(file);
        assertThat(folder).isEmptyDirectory();
    }
}
