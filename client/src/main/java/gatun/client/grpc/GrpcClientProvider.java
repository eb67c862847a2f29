// SPDX-License-Identifier: Apache-2.0
package gatun.client.grpc;

import gatun.client.ClientOptions;
import gatun.client.ClientProvider;
import gatun.client.GatunClient;
import gatun.client.ServerAddress;

/** Makes {@link GrpcGatunClient}s. */
public final class GrpcClientProvider implements ClientProvider {
    /** For the service loader. */
    public GrpcClientProvider() {}

    @Override
    public boolean isFor(ClientOptions options) {
        return options.servers().size() == 1 && options.server().protocol() == ServerAddress.Protocol.GRPC;
    }

    @Override
    public GatunClient connect(ClientOptions options) {
        return new GrpcGatunClient(options);
    }
}
