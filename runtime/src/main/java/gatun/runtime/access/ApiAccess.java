// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.access;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** Which groups of requests need a header, or a token, over one transport. Immutable, and safe for any thread. */
public final class ApiAccess {
    private static final ApiAccess OPEN = new ApiAccess(Map.of(), Map.of());
    private static final String AUTHORIZATION = "authorization";
    private static final String BEARER = "Bearer ";

    private final Map<ApiGroup, RequiredHeader> headers;
    private final Map<ApiGroup, TokenFile> tokens;

    /** A header that a request must have. */
    public record RequiredHeader(String name, String value) {}

    /** Why a request is refused. */
    public sealed interface Refusal {
        /** The request lacks the header of that {@code name}, or has it with another value. */
        record MissingHeader(String name) implements Refusal {}

        /** The request lacks a token, or has one that is not known. */
        record MissingToken() implements Refusal {
            /** The message for the client. */
            public static final String TEXT =
                    "this API needs a token that the server knows; send it as 'Authorization: Bearer TOKEN'";
        }
    }

    /** Restricts groups, to a header, to one of some tokens, or to both, and leaves the others open. */
    public ApiAccess(Map<ApiGroup, RequiredHeader> headers, Map<ApiGroup, TokenFile> tokens) {
        this.headers = headers.isEmpty() ? Map.of() : new EnumMap<>(headers);
        this.tokens = tokens.isEmpty() ? Map.of() : new EnumMap<>(tokens);
    }

    /** Restricts nothing. */
    public static ApiAccess open() {
        return OPEN;
    }

    /** Whether nothing is restricted. */
    public boolean isOpen() {
        return headers.isEmpty() && tokens.isEmpty();
    }

    /** Why a request is refused, if it is; {@code header} finds a header's first value by its name, in any case. */
    public Optional<Refusal> refusal(ApiGroup group, Function<String, Optional<String>> header) {
        RequiredHeader required = headers.get(group);
        if (required != null
                && !header.apply(required.name())
                        .filter(value -> equal(value, required.value()))
                        .isPresent()) {
            return Optional.of(new Refusal.MissingHeader(required.name()));
        }
        TokenFile known = tokens.get(group);
        if (known != null
                && !header.apply(AUTHORIZATION)
                        .filter(value -> value.regionMatches(true, 0, BEARER, 0, BEARER.length()))
                        .filter(value ->
                                known.holds(value.substring(BEARER.length()).strip()))
                        .isPresent()) {
            return Optional.of(new Refusal.MissingToken());
        }
        return Optional.empty();
    }

    /** Takes the same time wherever the two differ. */
    static boolean equal(String one, String other) {
        return MessageDigest.isEqual(one.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8));
    }
}
