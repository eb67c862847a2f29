// SPDX-License-Identifier: Apache-2.0
package gatun.isolation.engine;

import gatun.spi.discovery.InstalledBackends;
import gatun.workers.WorkerChannel;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.slf4j.LoggerFactory;

/**
 * The program of an engine's process. Frames come through its standard input and go out through descriptor 3, so that
 * whatever an engine prints does not get among them. Ends when its input does, whatever it is doing then.
 */
public final class EngineMain {
    /** The descriptor by which frames come. */
    public static final int FRAMES_IN = 0;

    /** The descriptor by which frames go out. */
    public static final int FRAMES_OUT = 3;

    private static final String DESCRIPTORS = "/proc/self/fd/";
    private static final org.slf4j.Logger LOG = LoggerFactory.getLogger(EngineMain.class);

    /** Held, since a logger without a reference forgets its level. */
    private static final Logger ROOT_LOG = Logger.getLogger("");

    private EngineMain() {}

    /** Runs until the server closes the pipe. The only argument, if any, is the folder of custom backends. */
    public static void main(String... arguments) throws IOException {
        // What engines say of their start is no more than what the server's own say.
        ROOT_LOG.setLevel(Level.WARNING);
        try (FileInputStream input = new FileInputStream(DESCRIPTORS + FRAMES_IN);
                FileOutputStream output = new FileOutputStream(DESCRIPTORS + FRAMES_OUT)) {
            WorkerChannel channel = new WorkerChannel(input, output);
            EngineHost host = new EngineHost(
                    channel,
                    InstalledBackends.find(Stream.of(arguments).findFirst().map(Path::of)));
            channel.read(host::frame);
        } catch (IOException e) {
            LOG.error("The process of an engine has no way to the server", e);
            throw e;
        } finally {
            // Not exit: an engine may be in the middle of a run, and nobody waits for it.
            Runtime.getRuntime().halt(0);
        }
    }
}
