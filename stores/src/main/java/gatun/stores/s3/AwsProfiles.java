// SPDX-License-Identifier: Apache-2.0
package gatun.stores.s3;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** The profiles in the files that the tools of AWS keep in the user's home. */
final class AwsProfiles {
    private static final long BYTE_LIMIT = 1 << 20;

    private AwsProfiles() {}

    /**
     * What both files say of a profile; the file of credentials counts first.
     *
     * @param environment may name other files
     */
    static Map<String, String> read(String profile, Map<String, String> environment, Path home) throws IOException {
        Path folder = home.resolve(".aws");
        Path config = Path.of(environment.getOrDefault(
                "AWS_CONFIG_FILE", folder.resolve("config").toString()));
        Path credentials = Path.of(environment.getOrDefault(
                "AWS_SHARED_CREDENTIALS_FILE", folder.resolve("credentials").toString()));
        Map<String, String> values = new HashMap<>();
        read(config, profile.equals("default") ? "default" : "profile " + profile, values);
        read(credentials, profile, values);
        return values;
    }

    private static void read(Path file, String section, Map<String, String> values) throws IOException {
        if (!Files.isRegularFile(file) || Files.size(file) > BYTE_LIMIT) {
            return;
        }
        boolean inside = false;
        for (String line : Files.readAllLines(file)) {
            String text = line.strip();
            if (text.startsWith("[") && text.endsWith("]")) {
                inside = text.substring(1, text.length() - 1).strip().equals(section);
            } else if (inside && !text.startsWith("#") && text.indexOf('=') > 0) {
                int equals = text.indexOf('=');
                values.put(
                        text.substring(0, equals).strip(),
                        text.substring(equals + 1).strip());
            }
        }
    }
}
