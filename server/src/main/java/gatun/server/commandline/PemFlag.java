// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.listener.PemFile;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** A flag that names a file of TLS. */
final class PemFlag {
    private PemFlag() {}

    /**
     * The file of a flag that another needs.
     *
     * @param because the flag that needs it
     * @throws ParameterException when the flag was not given
     */
    static PemFile required(CommandSpec spec, String because, String flag, Optional<Path> path) {
        return new PemFile(
                flag,
                path.orElseThrow(() -> new ParameterException(
                        spec.commandLine(), because + " needs " + flag + "=FILE, a file in PEM format.")));
    }
}
