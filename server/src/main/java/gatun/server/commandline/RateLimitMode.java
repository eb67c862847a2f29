// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

/** The values of {@code --rate-limit}. */
enum RateLimitMode {
    /** Instances run at any time. */
    OFF,
    /** Instances run only while the resources that they ask for are free; those that have run least go first. */
    EXECUTION_COUNT
}
