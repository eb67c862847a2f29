// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.protocol.flags.FlagType;
import gatun.stores.location.RepositoryLocation;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import picocli.CommandLine.TypeConversionException;

/** The place of models, as an operator writes it. */
sealed interface ModelPlace {
    FlagType<ModelPlace> TYPE = FlagType.of("DIR", ModelPlace::of);

    /** A path of this machine. */
    record Local(Path path) implements ModelPlace {
        @Override
        public String toString() {
            return path.toString();
        }
    }

    /** A URL. */
    record Remote(RepositoryLocation location) implements ModelPlace {
        @Override
        public String toString() {
            return location.text();
        }
    }

    /** Reads a path or a URL. Throws {@link TypeConversionException} saying what is wrong with a URL. */
    static ModelPlace of(String text) {
        if (!RepositoryLocation.isUrl(text)) {
            return new Local(Path.of(text));
        }
        try {
            return new Remote(RepositoryLocation.parse(text));
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException(e.getMessage());
        }
    }

    static List<Path> paths(List<ModelPlace> places) {
        return places.stream()
                .flatMap(place -> place instanceof Local local ? Stream.of(local.path()) : Stream.empty())
                .toList();
    }

    static List<RepositoryLocation> locations(List<ModelPlace> places) {
        return places.stream()
                .flatMap(place -> place instanceof Remote remote ? Stream.of(remote.location()) : Stream.empty())
                .toList();
    }
}
