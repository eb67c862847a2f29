// SPDX-License-Identifier: Apache-2.0
package gatun.workers;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/**
 * A program that was run to its end, its exit status, and the beginning of what it printed, errors among it. It is
 * killed when the thread that waits is interrupted, or its time is over.
 */
public record ShortProcess(int status, String output) {
    /** What is kept of a program's output; the rest is read and dropped. */
    private static final int MOST_OUTPUT = 64 << 10;

    /** Runs a program without input; 0 seconds for no limit. Throws {@link IOException} if it fails or is late. */
    public static ShortProcess run(ProcessBuilder builder, long seconds) throws IOException, InterruptedException {
        Process process = builder.redirectErrorStream(true).start();
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        // The read of a pipe cannot be interrupted, so that another thread does it.
        Thread reader = Thread.ofVirtual().name("output-of-" + process.pid()).start(() -> read(process, said));
        try {
            process.getOutputStream().close();
            if (seconds == 0) {
                process.waitFor();
            } else if (!process.waitFor(seconds, TimeUnit.SECONDS)) {
                throw new IOException("it did not end within " + seconds + " s");
            }
            reader.join(TimeUnit.SECONDS.toMillis(1));
            synchronized (said) {
                return new ShortProcess(
                        process.exitValue(),
                        said.toString(StandardCharsets.UTF_8).strip());
            }
        } finally {
            process.destroyForcibly();
        }
    }

    private static void read(Process process, ByteArrayOutputStream said) {
        byte[] chunk = new byte[8192];
        try (InputStream output = process.getInputStream()) {
            for (int count = output.read(chunk); count >= 0; count = output.read(chunk)) {
                synchronized (said) {
                    said.write(chunk, 0, Math.min(count, MOST_OUTPUT - said.size()));
                }
            }
        } catch (IOException e) {
            return; // It was killed, and nobody asks for its output.
        }
    }

    /** Whether it exited with 0. */
    public boolean succeeded() {
        return status == 0;
    }

    /** The last line that it printed. */
    public String lastLine() {
        return output.substring(output.lastIndexOf('\n') + 1);
    }
}
