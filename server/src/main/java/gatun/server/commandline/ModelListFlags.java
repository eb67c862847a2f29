package gatun.server.commandline;

import gatun.server.ModelListSettings;
import gatun.server.ModelListSettings.Names;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Which models to serve, as TensorFlow Serving is told. Filled by picocli, read once. */
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
            description = "How often to look for new versions of these models, 0 or less for never.")
    int versionPollSeconds;

    /** Whether these flags name any model. */
    boolean isGiven() {
        return basePath != null || file != null;
    }

    /** How often to look for new versions; empty for never. */
    Optional<Duration> versionPoll() {
        return versionPollSeconds > 0 ? Optional.of(Duration.ofSeconds(versionPollSeconds)) : Optional.empty();
    }

    /** @throws ParameterException when the flags of {@code command} contradict each other */
    Optional<ModelListSettings> settings(CommandSpec command) {
        if (file != null && basePath != null) {
            throw new ParameterException(
                    command.commandLine(),
                    "--model_config_file and --model_base_path both say what to serve; give one of them.");
        }
        Duration filePoll = Duration.ofSeconds(filePollSeconds);
        if (file != null) {
            return Optional.of(new ModelListSettings(new Names.File(file), filePoll));
        }
        return basePath == null
                ? Optional.empty()
                : Optional.of(new ModelListSettings(new Names.One(name, basePath.toAbsolutePath()), Duration.ZERO));
    }
}
