// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import com.google.protobuf.TextFormat;
import gatun.fuzz.FuzzInput;
import gatun.memory.tensor.GatunException;
import gatun.wire.inference.ModelConfig;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/**
 * Configurations in protobuf's text format, as model folders hold them: a configuration that was read, written by
 * protobuf and read again is the same. The heap is not measured: no client sends such text, and Jazzer itself takes
 * megabytes while protobuf reads it.
 */
public final class ConfigurationTextFuzz {
    private static final Pattern REFUSAL = Pattern.compile("config\\.pbtxt:-?\\d+:-?\\d+: .+", Pattern.DOTALL);

    private ConfigurationTextFuzz() {}

    /** Reads the input as a configuration. */
    public static void fuzzerTestOneInput(byte[] input) {
        try {
            ModelConfig read = parse(new String(input, StandardCharsets.UTF_8));
            FuzzInput.requireEqual(parse(TextFormat.printer().printToString(read)), read, "a configuration");
        } catch (GatunException e) {
            FuzzInput.require(
                    REFUSAL.matcher(e.getMessage()).matches(), "a refusal without a place: " + e.getMessage());
        }
    }

    private static ModelConfig parse(String text) {
        return ConfigurationFile.parse(text, ConfigurationFile.NAME);
    }
}
