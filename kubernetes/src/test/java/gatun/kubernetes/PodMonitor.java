// SPDX-License-Identifier: Apache-2.0
package gatun.kubernetes;

import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.util.List;

/** What we use of the Prometheus operator's resource of this name. */
record PodMonitor(String apiVersion, String kind, ObjectMeta metadata, Spec spec) {
    record Spec(LabelSelector selector, List<PodMetricsEndpoint> podMetricsEndpoints) {}

    record PodMetricsEndpoint(String port, String path, String interval) {}
}
