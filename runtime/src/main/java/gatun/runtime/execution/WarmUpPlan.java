// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.runtime.WarmUpSource;
import gatun.runtime.configuration.WarmUpSample;
import java.nio.file.Path;
import java.util.List;

/**
 * The requests that each instance of a version answers before it serves.
 *
 * @param samples the requests that the configuration makes
 * @param source sends those that lie beside the model's files
 * @param directory where the version's files are
 */
public record WarmUpPlan(List<WarmUpSample> samples, WarmUpSource source, Path directory) {
    /** Keeps a copy of the list. */
    public WarmUpPlan {
        samples = List.copyOf(samples);
    }
}
