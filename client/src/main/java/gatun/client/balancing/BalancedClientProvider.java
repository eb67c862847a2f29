// SPDX-License-Identifier: Apache-2.0
package gatun.client.balancing;

import gatun.client.ClientOptions;
import gatun.client.ClientProvider;
import gatun.client.GatunClient;

/** Makes {@link BalancedClient}s. */
public final class BalancedClientProvider implements ClientProvider {
    /** For the service loader. */
    public BalancedClientProvider() {}

    @Override
    public boolean isFor(ClientOptions options) {
        return options.servers().size() > 1;
    }

    @Override
    public GatunClient connect(ClientOptions options) {
        return new BalancedClient(options);
    }
}
