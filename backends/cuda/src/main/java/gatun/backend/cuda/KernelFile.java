// SPDX-License-Identifier: Apache-2.0
package gatun.backend.cuda;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.wire.inference.ModelConfig;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** The file of a model's kernels: PTX, a cubin or a fatbin. CUDA tells them apart by their content. Immutable. */
final class KernelFile {
    /** The names that are looked for when the configuration gives none. */
    private static final List<String> NAMES = List.of("model.ptx", "model.cubin", "model.fatbin");

    /** The file name that the server fills in for a backend whose files it does not know. */
    private static final String FILLED_IN = "model.cuda";

    /** More than any file of kernels has; an image must fit into an array. */
    private static final long MAX_BYTES = 1L << 30;

    private final String name;
    private final byte[] bytes;

    private KernelFile(String name, byte[] bytes) {
        this.name = name;
        this.bytes = bytes;
    }

    /** Reads a version's file. Throws NOT_FOUND when there is none, INVALID_ARGUMENT for several or a bad one. */
    static KernelFile read(ModelConfig config, Path versionDirectory) {
        String version = "version " + versionDirectory.getFileName() + " of model '" + config.getName() + "'";
        String name = name(config, versionDirectory, version);
        Path file = versionDirectory.resolve(name);
        try {
            if (Files.size(file) > MAX_BYTES) {
                throw GatunException.invalidArgument(
                        version + ": " + name + " has " + Files.size(file) + " bytes, expected at most " + MAX_BYTES);
            }
            byte[] bytes = Files.readAllBytes(file);
            if (bytes.length == 0) {
                throw GatunException.invalidArgument(
                        version + ": " + name + " is empty, expected PTX, a cubin or a fatbin, as nvcc makes them");
            }
            return new KernelFile(name, bytes);
        } catch (IOException e) {
            throw new GatunException(ErrorCode.UNAVAILABLE, version + ": cannot read " + name, e);
        }
    }

    private static String name(ModelConfig config, Path versionDirectory, String version) {
        String given = config.getDefaultModelFilename();
        boolean named = !given.isEmpty() && !given.equals(FILLED_IN);
        List<String> names = named || Files.isRegularFile(versionDirectory.resolve(FILLED_IN)) ? List.of(given) : NAMES;
        List<String> present = names.stream()
                .filter(each -> Files.isRegularFile(versionDirectory.resolve(each)))
                .toList();
        if (present.isEmpty()) {
            throw new GatunException(ErrorCode.NOT_FOUND, version + " has no file " + String.join(" or ", names));
        }
        if (present.size() > 1) {
            throw GatunException.invalidArgument(version + " has " + String.join(" and ", present)
                    + ", expected one of them; name it in default_model_filename, or remove the others");
        }
        return present.getFirst();
    }

    String name() {
        return name;
    }

    /** Its content; not to be changed. */
    byte[] bytes() {
        return bytes;
    }

    /** The functions in a PTX file; empty for a cubin or fatbin, whose functions cannot be listed. */
    Optional<PtxEntries> entries() {
        String text = new String(bytes, StandardCharsets.ISO_8859_1);
        // Every PTX file has this, and a fatbin may have PTX inside.
        int zero = text.indexOf('\0');
        boolean binary = zero >= 0 && zero < text.length() - 1;
        return text.contains(".version") && !binary ? Optional.of(new PtxEntries(text)) : Optional.empty();
    }
}
