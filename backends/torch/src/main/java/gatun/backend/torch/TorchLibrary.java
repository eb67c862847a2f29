// SPDX-License-Identifier: Apache-2.0
package gatun.backend.torch;

import gatun.bindings.LibraryCache;
import gatun.bindings.NativeLibrary;
import gatun.bindings.Torch;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.spi.Setting;
import java.nio.file.Files;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** PyTorch's library, which models need. Too large to come with the server, it is installed by a command. */
final class TorchLibrary {
    /** The option that names the library's file, or its folder. */
    static final String OPTION = "library";

    private static final String FILE = "libtorch_cpu.so";
    private static final Logger LOG = LoggerFactory.getLogger(TorchLibrary.class);

    private TorchLibrary() {}

    static String option(String path) {
        return Setting.backendOption(Settings.BACKEND, OPTION, path);
    }

    /** Opens the file or folder {@code chosen}, or the installed library if empty. Throws UNAVAILABLE. */
    static void open(String chosen, LibraryCache cache) {
        switch (Torch.open(path(chosen, cache))) {
            case NativeLibrary.Available available -> LOG.info("{} from {}", Torch.NAME, available.path());
            case NativeLibrary.Missing missing -> throw new GatunException(ErrorCode.UNAVAILABLE, missing.toString());
        }
    }

    static Path path(String chosen, LibraryCache cache) {
        if (chosen.isEmpty()) {
            return Torch.installed(cache)
                    .orElseThrow(() -> new GatunException(
                            ErrorCode.UNAVAILABLE,
                            "PyTorch is not installed; install it with './gatun install pytorch' (a download of 112 MB),"
                                    + " or name the library of another, such as the folder torch/lib of a Python's, with "
                                    + option("PATH")));
        }
        Path path = Path.of(chosen);
        Path file = Files.isDirectory(path) ? path.resolve(FILE) : path;
        if (!Files.isRegularFile(file)) {
            throw new GatunException(
                    ErrorCode.UNAVAILABLE, "PyTorch not available: " + option(chosen) + " names no " + FILE);
        }
        return file;
    }
}
