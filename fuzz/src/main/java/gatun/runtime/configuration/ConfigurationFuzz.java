package gatun.runtime.configuration;

import gatun.fuzz.FuzzInput;
import gatun.memory.GatunException;
import java.nio.charset.StandardCharsets;

/** The JSON of configurations that come with requests to load a model. */
public final class ConfigurationFuzz {
    private ConfigurationFuzz() {}

    /** Reads the input as a configuration. */
    public static void fuzzerTestOneInput(byte[] input) {
        FuzzInput.run(input, () -> {
            try {
                ConfigurationJson.read(new String(input, StandardCharsets.UTF_8));
            } catch (GatunException e) {
                FuzzInput.require(!e.getMessage().isEmpty(), "a refusal says why");
            }
        });
    }
}
