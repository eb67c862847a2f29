// SPDX-License-Identifier: Apache-2.0
package gatun.server;

import gatun.protocol.Endpoint;
import gatun.server.settings.StartException;
import gatun.server.settings.WritableFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.UnixDomainSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;

/**
 * A properties file that appears whole when the server listens, and is gone when it has stopped. The keys are {@code
 * pid}, {@code start-time} (milliseconds since 1970), and {@code url}, {@code port} and {@code unix-socket} of http,
 * grpc and metrics.
 */
final class ReadyFile implements AutoCloseable {
    private static final String FLAG = "--ready-file";

    private final Path file;

    private ReadyFile(Path file) {
        this.file = file;
    }

    /** Removes the file of an earlier server. Throws {@link StartException} also when it could not be written later. */
    static void removeStale(Path file) {
        try {
            Files.deleteIfExists(file);
            // Not under its name, which tells others that the server is ready.
            Path unfinished = unfinished(file);
            Files.deleteIfExists(unfinished);
            Files.createFile(unfinished);
            Files.delete(unfinished);
        } catch (IOException e) {
            throw cannotWrite(file, e);
        }
    }

    static ReadyFile write(Path file, List<Endpoint> endpoints) {
        StringBuilder text = new StringBuilder();
        line(text, "pid", Long.toString(ProcessHandle.current().pid()));
        ProcessHandle.current()
                .info()
                .startInstant()
                .ifPresent(start -> line(text, "start-time", Long.toString(start.toEpochMilli())));
        for (Endpoint endpoint : endpoints) {
            String key = endpoint.kind().key();
            if (endpoint.address() instanceof UnixDomainSocketAddress unix) {
                line(text, key + ".unix-socket", unix.getPath().toString());
            } else {
                line(text, key + ".url", endpoint.url());
                endpoint.port().ifPresent(port -> line(text, key + ".port", Integer.toString(port)));
            }
        }
        Path absolute = file.toAbsolutePath();
        Path unfinished = unfinished(file);
        try {
            Files.writeString(unfinished, text, StandardCharsets.ISO_8859_1);
            Files.move(unfinished, absolute, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw cannotWrite(file, e);
        }
        return new ReadyFile(absolute);
    }

    @Override
    public void close() {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            throw new UncheckedIOException("the ready file " + file + " cannot be removed", e);
        }
    }

    private static Path unfinished(Path file) {
        Path absolute = file.toAbsolutePath();
        return absolute.resolveSibling(absolute.getFileName() + ".new");
    }

    private static StartException cannotWrite(Path file, IOException cause) {
        return WritableFile.refusal(FLAG, file, cause);
    }

    /** Writes one property, with the characters escaped that have a meaning in the format. */
    private static void line(StringBuilder text, String key, String value) {
        text.append(key).append('=');
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c > 126 || c < ' ') {
                text.append(String.format("\\u%04x", (int) c));
            } else if (c == '\\' || (c == ' ' && i == 0)) {
                text.append('\\').append(c);
            } else {
                text.append(c);
            }
        }
        text.append('\n');
    }
}
