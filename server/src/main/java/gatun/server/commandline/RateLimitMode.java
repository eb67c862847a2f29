// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

/** What {@code --rate-limit} can be set to. */
enum RateLimitMode {
    /** Instances run at any time. */
    OFF,
    /** Instances run only while the resources are there that they ask for, those first that have run least. */
    EXECUTION_COUNT
}
