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
    public ServerAddress.Protocol protocol() {
        return ServerAddress.Protocol.GRPC;
    }

    @Override
    public GatunClient connect(ClientOptions options) {
        return new GrpcGatunClient(options);
    }
}
