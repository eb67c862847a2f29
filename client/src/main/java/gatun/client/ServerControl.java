// SPDX-License-Identifier: Apache-2.0
package gatun.client;

/** The metadata of a server, as it tells it. Safe for any thread; each call fails with a {@link ClientException}. */
public interface ServerControl {
    /** Whether the server answers at all; false also when it cannot be reached. */
    boolean live();

    /** Whether the server is ready for inferences; false also when it cannot be reached. */
    boolean ready();

    /** Its name, version and extensions. */
    ServerMetadata metadata();
}
