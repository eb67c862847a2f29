// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.protocol.flags.FlagGroup.Flag;
import gatun.protocol.flags.FlagGroup.OverlayFlags;
import gatun.protocol.flags.FlagType;
import gatun.server.settings.ServedModelSettings.StoreSettings;
import gatun.stores.location.RepositoryLocation;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** How models are fetched that URLs name. Read once. */
final class StoreFlags extends OverlayFlags<StoreSettings> {
    private final Flag<Optional<Path>> cache = optional(
            "--store-cache-dir",
            FlagType.PATH.labelled("DIR"),
            "The folder that keeps the files of models that URLs name, from one start to the next; servers may share it"
                    + " (without: stores in the user's cache, which is GATUN_CACHE, or else ~/.cache/gatun).");
    private final Flag<Long> cacheByteSize = flag(
            "--store-cache-byte-size",
            FlagType.BYTE_SIZE,
            standard.cacheByteSize(),
            "The most bytes that it keeps; those go first that no server uses, and that were used longest ago.");
    private final Flag<Duration> timeout = flag(
            "--store-timeout-secs",
            FlagType.INTERVAL,
            standard.timeout(),
            "How long a store may take to answer, or to send any 16 KiB of a file. It is asked four times.");
    private final Flag<Integer> connections = flag(
            "--store-connections", FlagType.COUNT, standard.connections(), "How many files are fetched at a time.");

    StoreFlags(StoreSettings standard) {
        super(standard);
    }

    /** {@code locations} are fetched besides those of the settings that this overlays. */
    StoreSettings settings(List<RepositoryLocation> locations) {
        return new StoreSettings(
                Stream.concat(standard.repositories().stream(), locations.stream())
                        .toList(),
                cache.value().orElse(standard.cache()),
                cacheByteSize.value(),
                timeout.value(),
                connections.value());
    }
}
