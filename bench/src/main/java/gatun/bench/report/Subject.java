// SPDX-License-Identifier: Apache-2.0
package gatun.bench.report;

/**
 * The subject of a measurement.
 *
 * @param model the model that was asked
 * @param version which version; empty for the server's choice
 * @param data what was sent, in words
 */
public record Subject(String model, String version, String data) {}
