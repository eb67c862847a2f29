// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import gatun.runtime.access.HostNames;
import gatun.runtime.limits.WorkBudgets;
import gatun.runtime.logging.AccessLog;

/**
 * The objects that all connections of a listener share.
 *
 * @param routes answer their requests
 * @param origins the other origins whose pages may read the responses
 * @param hosts the names of this server, for clients on this machine
 * @param watch notices when a client leaves while a request waits
 * @param budgets limit the work that clients throw away
 * @param stop how far the stop of the listener has come
 * @param accessLog gets a line for each request
 */
record ConnectionResources(
        Routes routes,
        AllowedOrigins origins,
        HostNames hosts,
        DisconnectWatch watch,
        WorkBudgets budgets,
        StopNotice stop,
        AccessLog accessLog) {}
