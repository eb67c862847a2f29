// SPDX-License-Identifier: Apache-2.0
package gatun.console.history;

import gatun.runtime.ComputeTimes;
import gatun.runtime.logging.AccessEntry;
import gatun.runtime.logging.RequestWatch;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the slowest requests and the last failures of the versions that it was told of, and of no others: what clients
 * ask for makes nothing here. Models of one name in several namespaces are one. Safe for any thread.
 */
final class RequestRecorder implements RequestWatch {
    /** By name, then by version, so that a request makes no key. */
    private final Map<String, Map<String, RequestRecords>> records = new ConcurrentHashMap<>();

    @Override
    public void ended(AccessEntry entry) {
        ComputeTimes times = entry.times();
        if (times != null) {
            RequestRecords found = find(entry.model(), entry.version());
            if (found != null) {
                found.ended(entry, times);
            }
        }
    }

    /** Records the requests to a version from now on. */
    void add(VersionKey version) {
        records.computeIfAbsent(version.model().name(), any -> new ConcurrentHashMap<>())
                .computeIfAbsent(version.version(), any -> new RequestRecords());
    }

    /** Forgets a version. */
    void remove(VersionKey version) {
        records.computeIfPresent(version.model().name(), (name, versions) -> {
            versions.remove(version.version());
            return versions.isEmpty() ? null : versions;
        });
    }

    /** The records of a version; null where there are none. */
    @Nullable
    RequestRecords find(String model, String version) {
        Map<String, RequestRecords> versions = records.get(model);
        return versions == null ? null : versions.get(version);
    }
}
