// SPDX-License-Identifier: Apache-2.0
package gatun.client;

/**
 * Makes clients of one protocol; {@link GatunClient#connect} finds it as a service. Those that Gatun's client has are in
 * it. Thread-safe.
 */
public interface ClientProvider {
    /** The protocol that its clients speak. */
    ServerAddress.Protocol protocol();

    /** A client of the server that {@code options} name. It may connect later. */
    GatunClient connect(ClientOptions options);
}
