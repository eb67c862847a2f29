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
    public boolean isFor(ClientOptions options) {
        return options.servers().size() == 1 && options.server().protocol() == ServerAddress.Protocol.HTTP;
    }

    @Override
    public GatunClient connect(ClientOptions options) {
        return new HttpGatunClient(options);
    }
}
