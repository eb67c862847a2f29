// SPDX-License-Identifier: Apache-2.0
package gatun.client;

/** Makes clients for some options; {@link GatunClient#connect} finds it as a service. Thread-safe. */
public interface ClientProvider {
    /** Whether its clients are for such options: for the protocol, and for one server or several. */
    boolean isFor(ClientOptions options);

    /** A client of the servers that {@code options} name. It may connect later. */
    GatunClient connect(ClientOptions options);
}
