// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import gatun.client.ClientOptions;
import gatun.client.ClientProvider;
import gatun.client.GatunClient;
import gatun.client.ServerAddress;

/** Makes {@link HttpGatunClient}s. */
public final class HttpClientProvider implements ClientProvider {
    /** For the service loader. */
    public HttpClientProvider() {}

    @Override
    public ServerAddress.Protocol protocol() {
        return ServerAddress.Protocol.HTTP;
    }

    @Override
    public GatunClient connect(ClientOptions options) {
        return new HttpGatunClient(options);
    }
}
