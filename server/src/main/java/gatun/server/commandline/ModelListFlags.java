// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.protocol.flags.FlagGroup;
import gatun.protocol.flags.FlagGroup.Flag;
import gatun.protocol.flags.FlagType;
import gatun.server.settings.ModelListSettings;
import gatun.server.settings.ModelListSettings.Names;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Which models to serve, as TensorFlow Serving is told. Read once. */
final class ModelListFlags extends FlagGroup {
    private final Flag<String> name =
            flag("--model_name", FlagType.TEXT, "default", "What the model of --model_base_path is called.");
    private final Flag<Optional<ModelPlace>> basePath = optional(
            "--model_base_path",
            ModelPlace.TYPE,
            "Serve the model in DIR, or at a URL as of --model-repository, which holds one folder for each version.");
    private final Flag<Optional<Path>> file = optional(
            "--model_config_file",
            FlagType.PATH,
            "Serve the models that FILE lists (ModelServerConfig in protobuf's text format).");
    private final Flag<Duration> filePoll = flag(
            "--model_config_file_poll_wait_seconds",
            FlagType.SECONDS,
            Duration.ZERO,
            "How often to read that file anew and follow it, 0 for never.");
    private final Flag<Duration> versionPoll = flag(
            "--file_system_poll_wait_seconds",
            FlagType.POLL_SECONDS,
            Duration.ofSeconds(1),
            "How often to look for new versions of these models, 0 or less for only once, at the start.");

    private final Flag<List<Path>> reloadFolders = several(
            "--reload-base-path",
            FlagType.PATH.labelled("DIR"),
            "A folder whose folders clients may name in HandleReloadConfigRequest, whoever may write to it; may be given"
                    + " several times. Without it, they may name those beside the models of the list, where only root"
                    + " and the server's user put folders.");

    boolean isGiven() {
        return basePath.value().isPresent() || file.value().isPresent();
    }

    /** Whether clients may list models in more folders. */
    boolean opensFolders() {
        return !reloadFolders.value().isEmpty();
    }

    /** How often to look for new versions; empty for never. */
    Optional<Duration> versionPoll() {
        return Optional.of(versionPoll.value()).filter(Duration::isPositive);
    }

    /** The models; those of the file where a base path is given too, as in TensorFlow Serving. */
    Optional<ModelListSettings> settings() {
        return file.value()
                .map(list -> new ModelListSettings(new Names.File(list), filePoll.value(), reloadFolders.value()))
                .or(() -> basePath.value()
                        .map(place -> new ModelListSettings(named(place), Duration.ZERO, reloadFolders.value())));
    }

    private Names named(ModelPlace place) {
        return switch (place) {
            case ModelPlace.Local local ->
                new Names.One(name.value(), local.path().toAbsolutePath());
            case ModelPlace.Remote remote -> new Names.Stored(name.value(), remote.location());
        };
    }
}
