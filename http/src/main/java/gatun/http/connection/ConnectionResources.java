// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

/**
 * The objects that all connections of a listener share.
 *
 * @param routes answer their requests
 * @param origins the other origins whose pages may read the responses
 * @param watch notices when a client leaves while a request waits
 * @param stop how far the stop of the listener has come
 */
record ConnectionResources(Routes routes, AllowedOrigins origins, DisconnectWatch watch, StopNotice stop) {}
