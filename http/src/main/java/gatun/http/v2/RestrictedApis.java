// SPDX-License-Identifier: Apache-2.0
package gatun.http.v2;

import gatun.http.connection.Exchange;
import gatun.http.connection.RestrictedRequests;
import gatun.runtime.access.ApiAccess;
import gatun.runtime.access.ApiGroup;
import java.util.Optional;

/** Refuses requests to restricted groups of paths, before anything of them is read. Safe for any thread. */
final class RestrictedApis {
    private final RestrictedRequests requests;

    RestrictedApis(ApiAccess access) {
        this.requests = new RestrictedRequests(access);
    }

    /** Whether the request was refused, and answered so. */
    boolean refused(Exchange exchange, String path) {
        if (requests.areOpenTo(exchange)) {
            return false;
        }
        return group(path).filter(group -> requests.refused(exchange, group)).isPresent();
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
