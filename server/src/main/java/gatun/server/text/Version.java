// SPDX-License-Identifier: Apache-2.0
package gatun.server.text;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;

/** The version of Gatun. */
public final class Version {
    private Version() {}

    /** The version as the build wrote it, such as {@code 1.2.0}. */
    public static String text() {
        try (InputStream in = Version.class.getResourceAsStream("version.properties")) {
            Properties properties = new Properties();
            properties.load(in);
            return properties.getProperty("version");
        } catch (IOException e) {
            throw new UncheckedIOException("the program's own version.properties cannot be read", e);
        }
    }
}
