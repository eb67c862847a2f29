// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

/**
 * A connection that is open, for people to read.
 *
 * @param peer the client's address
 * @param tls whether TLS is spoken on it
 * @param sinceMillis when it came, in milliseconds since 1970
 * @param requests how many requests have come over it
 * @param busy whether one of them is being answered
 */
public record ConnectionUse(String peer, boolean tls, long sinceMillis, long requests, boolean busy) {}
