// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

/**
 * How long the response cache took for the requests to a model version since it was loaded.
 *
 * @param hit looking up what was there, and making the answers
 * @param miss looking up what was not there, and putting the answers in
 */
public record CacheLatencies(Latencies hit, Latencies miss) {}
