// SPDX-License-Identifier: Apache-2.0
package gatun.v2.lane;

import java.util.OptionalLong;

/**
 * A lane that is open, for people to read. Its name is its client's secret, so that it has a number instead.
 *
 * @param number of the lane, the one that flight recordings give it
 * @param owner the process of its client; empty where it is not known
 * @param byteSize its memory in bytes
 * @param slots how many requests may be under way
 * @param inFlight how many are
 */
public record LaneUse(long number, OptionalLong owner, long byteSize, int slots, int inFlight) {}
