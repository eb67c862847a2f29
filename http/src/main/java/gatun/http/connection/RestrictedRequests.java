// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import gatun.runtime.access.ApiAccess;
import gatun.runtime.access.ApiAccess.Refusal;
import gatun.runtime.access.ApiGroup;
import io.helidon.http.HeaderNames;
import io.helidon.http.Method;
import io.helidon.http.Status;
import java.util.Optional;

/** Refuses requests of restricted groups, before any part of them is read. Safe for any thread. */
public final class RestrictedRequests {
    private final ApiAccess access;

    /** Refuses the requests that {@code access} refuses. */
    public RestrictedRequests(ApiAccess access) {
        this.access = access;
    }

    /**
     * Whether nobody is refused. For browsers, which ask with OPTIONS and without any headers of their page whether the
     * page may send them.
     */
    public boolean areOpenTo(Exchange exchange) {
        return access.isOpen() || exchange.method().equals(Method.OPTIONS);
    }

    /** Whether the request was refused; it has been answered then. */
    public boolean refused(Exchange exchange, ApiGroup group) {
        if (areOpenTo(exchange)) {
            return false;
        }
        Optional<Refusal> refusal = access.refusal(group, exchange::header);
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
}
