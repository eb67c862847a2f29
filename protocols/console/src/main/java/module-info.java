// SPDX-License-Identifier: Apache-2.0
/** The console: a page about a server for people, and the API under it. */
module gatun.console {
    requires static org.jspecify;
    requires transitive gatun.protocol;
    requires org.slf4j;

    exports gatun.console.protocol;
}
