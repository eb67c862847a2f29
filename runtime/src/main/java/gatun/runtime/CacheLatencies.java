// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

/**
 * How long the response cache took for the requests to a model version since it was loaded.
 *
 * @param hit looking up what was there, and making the responses
 * @param miss looking up what was not there, and storing the responses
 */
public record CacheLatencies(Latencies hit, Latencies miss) {}
