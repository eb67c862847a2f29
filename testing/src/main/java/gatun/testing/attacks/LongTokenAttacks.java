// SPDX-License-Identifier: Apache-2.0
package gatun.testing.attacks;

import java.util.List;
import java.util.Set;

/**
 * Bodies of one long token, or of very many short ones, which a server scans byte by byte. They ask
 * {@code identity_int8} and {@code identity_bytes}, which give back what they get.
 */
public final class LongTokenAttacks {
    private static final String INFER = "/v2/models/identity_int8/infer";
    private static final String GENERATE = "/v2/models/identity_bytes/generate";
    private static final String PREDICT = "/v1/models/identity_int8:predict";
    private static final String DATA = "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"INT8\",\"shape\":[1],\"data\":[";

    private static final Set<String> ANSWERED_OR_LATER = Set.of("200", "503");
    private static final Set<String> WRONG = Set.of("400");
    private static final Set<String> TOO_LONG = Set.of("413");

    private final long byteSize;

    /** Attacks with bodies of about {@code byteSize} bytes. */
    public LongTokenAttacks(long byteSize) {
        this.byteSize = byteSize;
    }

    /** Every attack of this kind. */
    public List<Attack> all() {
        return List.of(
                attack("escapes in a text", GENERATE, "{\"IN\":\"", "\\n", "\"}", ANSWERED_OR_LATER),
                attack("escapes in an id", INFER, "{\"id\":\"", "\\n", "\",\"inputs\":[]}", TOO_LONG),
                attack("escapes in a name", INFER, "{\"", "\\n", "\":1,\"inputs\":[]}", TOO_LONG),
                attack("escapes in a member that nobody reads", INFER, "{\"x\":\"", "\\n", "\",\"inputs\":[]}", WRONG),
                attack("members that nobody reads", INFER, "{", "\"a\":1,", "\"inputs\":[]}", WRONG),
                attack("blanks before the document", INFER, "", " ", "{\"inputs\":[]}", WRONG),
                attack("blanks alone", INFER, "", "\n", "", WRONG),
                attack("blanks in data", INFER, DATA, " ", "1]}]}", ANSWERED_OR_LATER),
                attack("digits of one number", INFER, DATA, "1", "]}]}", WRONG),
                attack("zeros of one fraction", INFER, DATA + "0.", "0", "]}]}", WRONG),
                attack("empty arrays in data", INFER, DATA, "[],", "1]}]}", ANSWERED_OR_LATER),
                attack("empty rows", PREDICT, "{\"instances\":[", "[],", "[]]}", WRONG),
                attack("brackets that do not end", PREDICT, "{\"instances\":", "[", "", WRONG),
                attack("a row's string that does not end", PREDICT, "{\"instances\":[\"", "\\n", "", WRONG),
                attack(
                        "base64 in a row",
                        "/v1/models/identity_bytes:predict",
                        "{\"instances\":[{\"b64\":\"",
                        "AAAA",
                        "\"}]}",
                        ANSWERED_OR_LATER));
    }

    private Attack attack(String name, String path, String begin, String unit, String end, Set<String> outcomes) {
        return new Attack(name, outcomes, target -> {
            try (HttpAttacker attacker = new HttpAttacker(target.http())) {
                RepeatedBody body = RepeatedBody.of(begin, unit, byteSize / unit.length(), end);
                return attacker.post(path, body, "").status();
            }
        });
    }
}
