// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import java.util.List;
import picocli.CommandLine.Model.OptionSpec;

/**
 * The value of one flag in one source.
 *
 * @param flag the flag
 * @param values its values in the form of the command line; several where the flag takes several
 * @param origin the place of the value, for errors: {@code GATUN_HTTP_PORT}, or file, line, column and key
 */
record SettingSource(OptionSpec flag, List<String> values, String origin) {
    /** Whether both are values of the same flag. */
    boolean isOfSameFlag(SettingSource other) {
        return flag.equals(other.flag);
    }
}
