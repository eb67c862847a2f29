// SPDX-License-Identifier: Apache-2.0
package gatun.http.tensorflow;

import gatun.tensorflow.serving.Servable;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a path is about.
 *
 * @param model the model's name; empty when the path has none
 * @param version the version, in decimal digits; empty when the path has none
 * @param label the version's label; empty when the path has none
 * @param verb what is to be done, or told; empty for the status
 */
record ServablePath(String model, String version, String label, String verb) {
    private static final String MODEL = "/v1/models";
    private static final String VERSION = "(?:(?:/versions/([0-9]+))|(?:/labels/([^/:?]+)))?";
    private static final Pattern INFERENCE =
            Pattern.compile(MODEL + "/([^/:?]+)" + VERSION + ":(classify|regress|predict)", Pattern.CASE_INSENSITIVE);
    private static final Pattern INFORMATION =
            Pattern.compile(MODEL + "(?:/([^/:?]+))?" + VERSION + "(?:/(metadata))?", Pattern.CASE_INSENSITIVE);

    /** The path of an inference; empty when it is none. */
    static Optional<ServablePath> ofInference(String path) {
        return of(INFERENCE, path);
    }

    /** The path of what is to be told; empty when it is none. */
    static Optional<ServablePath> ofInformation(String path) {
        return of(INFORMATION, path);
    }

    private static Optional<ServablePath> of(Pattern pattern, String path) {
        Matcher matcher = pattern.matcher(path);
        if (!matcher.matches()) {
            return Optional.empty();
        }
        return Optional.of(new ServablePath(
                decoded(matcher.group(1)),
                Optional.ofNullable(matcher.group(2)).orElse(""),
                decoded(matcher.group(3)),
                Optional.ofNullable(matcher.group(4)).orElse("")));
    }

    /** The version; empty when the path has none. Not for those {@linkplain #versionOverflows greater than any can be}. */
    OptionalLong versionNumber() {
        return version.isEmpty() ? OptionalLong.empty() : OptionalLong.of(Long.parseLong(version));
    }

    /** What a request to this path is for; {@code signature} is as the request has it, empty for the default one. */
    Servable servable(String signature) {
        return new Servable(model, versionNumber(), label.isEmpty() ? Optional.empty() : Optional.of(label), signature);
    }

    /** What is not encoded rightly stays as it was sent. */
    private static String decoded(String part) {
        if (part == null) {
            return "";
        }
        if (part.indexOf('%') < 0) {
            return part;
        }
        try {
            return URLDecoder.decode(part.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            return part;
        }
    }

    /** Whether the version is greater than any can be. */
    boolean versionOverflows() {
        String digits = version.replaceFirst("^0+", "");
        String greatest = Long.toString(Long.MAX_VALUE);
        return digits.length() > greatest.length()
                || (digits.length() == greatest.length() && digits.compareTo(greatest) > 0);
    }
}
