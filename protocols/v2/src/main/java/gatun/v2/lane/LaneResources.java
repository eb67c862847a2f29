// SPDX-License-Identifier: Apache-2.0
package gatun.v2.lane;

import gatun.runtime.server.InferenceServer;
import java.util.concurrent.ScheduledExecutorService;

/**
 * The objects that all lanes of a server share.
 *
 * @param server answers their requests
 * @param timer gives requests up whose deadline passes
 */
record LaneResources(InferenceServer server, ScheduledExecutorService timer) {}
