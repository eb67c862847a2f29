// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import gatun.runtime.access.HostNames;
import gatun.runtime.limits.WorkBudgets;
import gatun.runtime.logging.AccessLog;
import gatun.runtime.placement.RunPlacement;

/**
 * The objects that all connections of an HTTP listener share.
 *
 * @param routes answer their requests
 * @param origins the other origins whose pages may read the responses
 * @param hosts the names of this server, for clients on this machine
 * @param budgets limit the work that clients throw away
 * @param stop how far the stop of the listener has come
 * @param accessLog gets a line for each request
 * @param placement decides which thread answers a request
 */
public record ConnectionResources(
        Routes routes,
        AllowedOrigins origins,
        HostNames hosts,
        WorkBudgets budgets,
        StopNotice stop,
        AccessLog accessLog,
        RunPlacement placement) {}
