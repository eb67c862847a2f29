package gatun.http.v2;

import gatun.http.connection.Exchange;
import gatun.runtime.access.ApiAccess;
import gatun.runtime.access.ApiAccess.Refusal;
import gatun.runtime.access.ApiGroup;
import io.helidon.http.HeaderNames;
import io.helidon.http.Method;
import io.helidon.http.Status;
import java.util.Optional;

/** Refuses requests to restricted groups of paths, before anything of them is read. Safe for any thread. */
final class RestrictedApis {
    private final ApiAccess access;

    RestrictedApis(ApiAccess access) {
        this.access = access;
    }

    /** Whether the request was refused, and answered so. */
    boolean refused(Exchange exchange, String path) {
        // Browsers ask with OPTIONS, and without any headers of their page, whether the page may send them; no more is
        // told than that.
        if (access.isOpen() || exchange.method().equals(Method.OPTIONS)) {
            return false;
        }
        Optional<Refusal> refusal = group(path).flatMap(group -> access.refusal(group, exchange::header));
        refusal.ifPresent(reason -> answer(exchange, reason));
        return refusal.isPresent();
    }

    private static void answer(Exchange exchange, Refusal refusal) {
        switch (refusal) {
            case Refusal.MissingHeader header ->
                exchange.answerFailure(
                        Status.FORBIDDEN_403, "This API is restricted, expecting header '" + header.name() + "'");
            case Refusal.MissingToken token -> {
                exchange.header(HeaderNames.WWW_AUTHENTICATE, "Bearer");
                exchange.answerFailure(Status.UNAUTHORIZED_401, Refusal.MissingToken.TEXT);
            }
        }
    }

    /** The group that a path of the protocol belongs to; empty for one that does not exist. */
    private static Optional<ApiGroup> group(String path) {
        String[] parts = path.split("/", -1);
        if (parts.length == 2) {
            return Optional.of(ApiGroup.METADATA);
        }
        return switch (parts[2]) {
            case "health" -> Optional.of(ApiGroup.HEALTH);
            case "models" -> modelGroup(parts);
            case "repository" -> Optional.of(ApiGroup.MODEL_REPOSITORY);
            case "systemsharedmemory", "cudasharedmemory" -> Optional.of(ApiGroup.SHARED_MEMORY);
            case "trace" -> Optional.of(ApiGroup.TRACE);
            case "logging" -> Optional.of(ApiGroup.LOGGING);
            default -> Optional.empty();
        };
    }

    /** The group of {@code /v2/models/M[/versions/V][/what]}, and of {@code /v2/models/stats}. */
    private static Optional<ApiGroup> modelGroup(String[] parts) {
        if (parts.length == 4) {
            return Optional.of(parts[3].equals("stats") ? ApiGroup.STATISTICS : ApiGroup.METADATA);
        }
        int what = parts.length > 4 && parts[4].equals("versions") ? 6 : 4;
        if (parts.length == what) {
            return Optional.of(ApiGroup.METADATA);
        }
        if (parts.length < what) {
            return Optional.empty();
        }
        return switch (parts[what]) {
            case "ready" -> Optional.of(ApiGroup.HEALTH);
            case "infer", "generate", "generate_stream" -> Optional.of(ApiGroup.INFERENCE);
            case "config" -> Optional.of(ApiGroup.MODEL_CONFIG);
            case "stats" -> Optional.of(ApiGroup.STATISTICS);
            case "trace" -> Optional.of(ApiGroup.TRACE);
            default -> Optional.empty();
        };
    }
}
