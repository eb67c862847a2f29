// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.http;

import gatun.http.routes.PathValues;
import gatun.tensorflow.serving.Servable;
import java.util.Optional;
import java.util.OptionalLong;

/** The model, version in decimal digits, and label that a path names; each empty when the path has none. */
record ServablePath(String model, String version, String label) {
    static ServablePath of(PathValues path) {
        return new ServablePath(path.value("model"), path.value("version"), path.value("label"));
    }

    /** The version, if any; not for one {@linkplain #versionOverflows greater than any can be}. */
    OptionalLong versionNumber() {
        return version.isEmpty() ? OptionalLong.empty() : OptionalLong.of(Long.parseLong(version));
    }

    /** The servable of a request to this path; {@code signature} is the request's, empty for the default one. */
    Servable servable(String signature) {
        return new Servable(model, versionNumber(), label.isEmpty() ? Optional.empty() : Optional.of(label), signature);
    }

    boolean versionOverflows() {
        String digits = version.replaceFirst("^0+", "");
        String greatest = Long.toString(Long.MAX_VALUE);
        return digits.length() > greatest.length()
                || (digits.length() == greatest.length() && digits.compareTo(greatest) > 0);
    }
}
