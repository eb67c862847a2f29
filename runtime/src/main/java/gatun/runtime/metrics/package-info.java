// SPDX-License-Identifier: Apache-2.0
/** Metrics that models and backends make themselves. */
@NullMarked
package gatun.runtime.metrics;

import org.jspecify.annotations.NullMarked;
