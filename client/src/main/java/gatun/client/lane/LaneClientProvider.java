// SPDX-License-Identifier: Apache-2.0
package gatun.client.lane;

import gatun.client.ClientOptions;
import gatun.client.ClientProvider;
import gatun.client.GatunClient;
import gatun.client.ServerAddress;

/** Makes {@link LaneGatunClient}s. */
public final class LaneClientProvider implements ClientProvider {
    /** For the service loader. */
    public LaneClientProvider() {}

    @Override
    public boolean isFor(ClientOptions options) {
        return options.servers().size() == 1 && options.server().protocol() == ServerAddress.Protocol.LANE;
    }

    @Override
    public GatunClient connect(ClientOptions options) {
        return new LaneGatunClient(options);
    }
}
