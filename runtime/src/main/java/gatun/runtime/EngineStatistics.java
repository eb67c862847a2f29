// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

/**
 * The resources that a started engine holds now.
 *
 * @param backend the engine's name
 * @param liveValues native tensors, those included that are kept for requests to come
 */
public record EngineStatistics(String backend, long liveValues) {}
