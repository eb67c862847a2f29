// SPDX-License-Identifier: Apache-2.0
package gatun.console.history;

import gatun.memory.tensor.GatunException;
import gatun.runtime.ModelIdentifier;
import gatun.runtime.ModelLatencies;
import gatun.runtime.ModelStatistics;
import gatun.runtime.server.InferenceServer;
import gatun.wire.inference.ModelInstanceGroup;
import java.util.List;
import java.util.function.BiPredicate;

/** The counters of a server's versions. Safe for any thread. */
interface CounterSource {
    /** The counters of every ready version. */
    List<ModelStatistics> statistics();

    /** How long the requests to those ready versions took that {@code wanted} is true of. */
    List<ModelLatencies> latencies(BiPredicate<ModelIdentifier, String> wanted);

    /** How many instances a version has now. */
    int instances(VersionKey version);

    /** The counters of {@code server}. */
    static CounterSource of(InferenceServer server) {
        return new CounterSource() {
            @Override
            public List<ModelStatistics> statistics() {
                return server.statistics();
            }

            @Override
            public List<ModelLatencies> latencies(BiPredicate<ModelIdentifier, String> wanted) {
                return server.latencies(wanted);
            }

            @Override
            public int instances(VersionKey version) {
                try {
                    return instancesOf(server.model(version.model(), version.version())
                            .config()
                            .getInstanceGroupList());
                } catch (GatunException e) {
                    return 0; // it went just now
                }
            }
        };
    }

    /** How many instances there are of these groups. */
    static int instancesOf(List<ModelInstanceGroup> groups) {
        return groups.stream()
                .mapToInt(group -> group.getCount() * Math.max(1, group.getGpusCount()))
                .sum();
    }
}
