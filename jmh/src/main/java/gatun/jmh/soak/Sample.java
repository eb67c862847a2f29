// SPDX-License-Identifier: Apache-2.0
package gatun.jmh.soak;

/**
 * One line of a soak test's table.
 *
 * @param seconds since the test began
 * @param answered requests answered rightly since the line before
 * @param errors requests that were not answered
 * @param wrong requests that were answered wrongly
 * @param p50Micros the median latency of them all
 * @param p99Micros the 99th percentile
 * @param vitals what the server held
 */
record Sample(
        double seconds, long answered, long errors, long wrong, double p50Micros, double p99Micros, Vitals vitals) {}
