// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.server.settings.ModelListSettings;
import gatun.server.settings.ModelListSettings.Names;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** TensorFlow Serving's flags for the models to serve. Filled by picocli, read once. */
final class ModelListFlags {
    @Option(
            names = "--model_name",
            paramLabel = "NAME",
            defaultValue = "default",
            description = "What the model of --model_base_path is called.")
    String name = "";

    @Option(
            names = "--model_base_path",
            paramLabel = "DIR",
            description = "Serve the model in DIR, which holds one folder for each version.")
    @Nullable
    Path basePath;

    @Option(
            names = "--model_config_file",
            paramLabel = "FILE",
            description = "Serve the models that FILE lists (ModelServerConfig in protobuf's text format).")
    @Nullable
    Path file;

    @Option(
            names = "--model_config_file_poll_wait_seconds",
            paramLabel = "SECONDS",
            defaultValue = "0",
            converter = FlagValues.Seconds.class,
            description = "How often to read that file anew and follow it, 0 for never.")
    int filePollSeconds;

    @Option(
            names = "--file_system_poll_wait_seconds",
            paramLabel = "SECONDS",
            defaultValue = "1",
            converter = FlagValues.PollSeconds.class,
            description = "How often to look for new versions of these models, 0 or less for only once, at the start.")
    int versionPollSeconds;

    /** Whether these flags name any model. */
    boolean isGiven() {
        return basePath != null || file != null;
    }

    /** How often to look for new versions; empty for never. */
    Optional<Duration> versionPoll() {
        return versionPollSeconds > 0 ? Optional.of(Duration.ofSeconds(versionPollSeconds)) : Optional.empty();
    }

    /** The models; those of the file where a base path is given too, as in TensorFlow Serving. */
    Optional<ModelListSettings> settings() {
        Duration filePoll = Duration.ofSeconds(filePollSeconds);
        if (file != null) {
            return Optional.of(new ModelListSettings(new Names.File(file), filePoll));
        }
        return basePath == null
                ? Optional.empty()
                : Optional.of(new ModelListSettings(new Names.One(name, basePath.toAbsolutePath()), Duration.ZERO));
    }
}
