// SPDX-License-Identifier: Apache-2.0
/** Metrics that models and backends make themselves, and those of the process and its machine. */
@NullMarked
package gatun.runtime.metrics;

import org.jspecify.annotations.NullMarked;
