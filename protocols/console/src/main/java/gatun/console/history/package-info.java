// SPDX-License-Identifier: Apache-2.0
/**
 * What models did in the last hour, second by second and in bounded memory: rates, quantiles, the slowest requests and
 * the last failures. Reads counters that are there anyway, and knows no protocol.
 */
@NullMarked
package gatun.console.history;

import org.jspecify.annotations.NullMarked;
