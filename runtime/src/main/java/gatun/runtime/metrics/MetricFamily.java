// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.metrics;

import gatun.spi.ModelMetrics;
import java.util.List;

/**
 * A family of metrics with their present values.
 *
 * @param name its name on the metrics page
 * @param description what it means
 * @param kind what its values are
 * @param values one for each set of labels
 */
public record MetricFamily(String name, String description, ModelMetrics.Kind kind, List<MetricValue> values) {}
