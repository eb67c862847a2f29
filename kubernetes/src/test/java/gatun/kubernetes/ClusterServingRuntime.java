// SPDX-License-Identifier: Apache-2.0
package gatun.kubernetes;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Volume;
import java.util.List;
import java.util.Map;

/** What we use of KServe's resource of this name. */
record ClusterServingRuntime(String apiVersion, String kind, ObjectMeta metadata, Spec spec) {
    record Spec(
            Map<String, String> annotations,
            List<ModelFormat> supportedModelFormats,
            List<String> protocolVersions,
            List<Container> containers,
            List<Volume> volumes) {}

    record ModelFormat(String name, String version, boolean autoSelect, int priority) {}
}
