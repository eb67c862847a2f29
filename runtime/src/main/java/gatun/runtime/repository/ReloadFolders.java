// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.IoFailure;
import gatun.runtime.ListedModels.ListedModel;
import gatun.spi.Setting;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The folders that clients may list as models: those the operator lists, their siblings where nobody else puts folders,
 * and those in folders the operator opens. Links are followed once, here, and their targets served. Thread-safe.
 */
final class ReloadFolders {
    private static final int WRITABLE_FOR_GROUP = 0020;
    private static final int WRITABLE_FOR_ALL = 0002;
    private static final Path SELF = Path.of("/proc/self");

    private final List<Path> opened;

    /** The folders of the models that the operator lists, as he does; replaced as a whole. */
    private volatile List<Path> listed = List.of();

    /** @param opened the folders that the operator opens, whoever may write to them */
    ReloadFolders(List<Path> opened) {
        this.opened = opened.stream().map(ReloadFolders::plain).toList();
    }

    void list(List<ListedModel> models) {
        listed = models.stream().map(ListedModel::directory).toList();
    }

    /**
     * The model with the folder its path leads to, maybe not there yet. Throws INVALID_ARGUMENT when a client may not
     * list it; a path that may not be named is not looked at.
     */
    ListedModel admit(ListedModel model) {
        Path asked = plain(model.directory());
        Optional<Path> same =
                listed.stream().filter(path -> plain(path).equals(asked)).findFirst();
        if (same.isPresent()) {
            return at(model, same.get());
        }
        requireNameable(model, asked);
        Path real = followed(model, asked);
        Path root = requireNameable(model, real);
        Optional<Path> own = listed.stream()
                .filter(path -> real(path).anyMatch(real::equals))
                .findFirst();
        if (own.isPresent()) {
            return at(model, own.get());
        }
        if (!opened.contains(root)
                && opened.stream().flatMap(ReloadFolders::real).noneMatch(root::equals)) {
            requireNoneWritable(model, real, root);
        }
        return at(model, real);
    }

    /** The folder that a path lies in of those whose folders clients may name, with its links followed if that is so. */
    private Path requireNameable(ListedModel model, Path path) {
        Stream<Path> safe = parents().filter(parent -> !othersMayWrite(parent));
        return Stream.concat(opened.stream(), safe)
                .flatMap(root -> Stream.concat(real(root), Stream.of(root)))
                .filter(root -> isBelow(path, root))
                .findFirst()
                .orElseThrow(() -> refused(
                        model,
                        parents().anyMatch(parent -> isBelow(path, parent))
                                ? "others than root and the server's user may write to the folder of the models that the"
                                        + " operator lists, which it is in"
                                : "it does not lie beside the folders of the models that the operator lists"));
    }

    private Stream<Path> parents() {
        return listed.stream()
                .map(path -> plain(path).getParent())
                .filter(Objects::nonNull)
                .filter(path -> path.getNameCount() > 0);
    }

    /**
     * Follows links; what is missing at the end may come later. Throws INVALID_ARGUMENT for a link that leads nowhere,
     * since somebody else may give it an end.
     */
    private static Path followed(ListedModel model, Path asked) {
        Path present = asked;
        while (!isPresent(present)) {
            present = Objects.requireNonNull(present.getParent(), "the root of the disk is there");
        }
        try {
            return present.toRealPath().resolve(present.relativize(asked));
        } catch (NoSuchFileException e) {
            throw refused(model, "it leads nowhere by the link " + present);
        } catch (IOException e) {
            throw refused(model, "it cannot be read: " + IoFailure.reason(e));
        }
    }

    private static boolean isPresent(Path path) {
        return Files.exists(path, LinkOption.NOFOLLOW_LINKS);
    }

    /** Anybody may have put there what lies in a folder that anybody may write to, or may yet put it there. */
    private static void requireNoneWritable(ListedModel model, Path real, Path root) {
        for (Path folder = real; !folder.equals(root); folder = Objects.requireNonNull(folder.getParent())) {
            if (isPresent(folder) && isWritable(folder, WRITABLE_FOR_ALL)) {
                throw refused(model, "anybody may write to " + folder);
            }
        }
    }

    private static boolean othersMayWrite(Path folder) {
        try {
            int owner = (int) Files.getAttribute(folder, "unix:uid");
            return (owner != 0 && owner != (int) Files.getAttribute(SELF, "unix:uid"))
                    || isWritable(folder, WRITABLE_FOR_GROUP | WRITABLE_FOR_ALL);
        } catch (IOException | UnsupportedOperationException e) {
            return true; // Nobody knows.
        }
    }

    /** Whether any of these bits is set; true where nobody knows. */
    private static boolean isWritable(Path folder, int bits) {
        try {
            return ((int) Files.getAttribute(folder, "unix:mode") & bits) != 0;
        } catch (IOException | UnsupportedOperationException e) {
            return true;
        }
    }

    private static boolean isBelow(Path path, Path root) {
        return path.startsWith(root) && !path.equals(root);
    }

    /** The folder that a path leads to, if it leads to any. */
    private static Stream<Path> real(Path path) {
        try {
            return Stream.of(path.toRealPath());
        } catch (IOException e) {
            return Stream.empty();
        }
    }

    private static Path plain(Path path) {
        return path.toAbsolutePath().normalize();
    }

    private static ListedModel at(ListedModel model, Path directory) {
        return new ListedModel(model.name(), directory, model.platform(), model.versions(), model.labels());
    }

    private static GatunException refused(ListedModel model, String reason) {
        return GatunException.invalidArgument("base_path()=" + model.directory() + " of model " + model.name()
                + " is refused, since " + reason + "; list the model in the server's own " + Setting.MODEL_CONFIG_FILE
                + ", or start the server with " + Setting.RELOAD_BASE_PATH.with("DIR")
                + " of a folder whose folders clients may list");
    }
}
