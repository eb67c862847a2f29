// SPDX-License-Identifier: Apache-2.0
package gatun.server;

import gatun.memory.tensor.GatunException;
import gatun.server.settings.ServerSettings.ResponseCacheSettings;
import gatun.server.settings.StartException;
import gatun.spi.ResponseStore;
import gatun.spi.ResponseStoreProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;

/** Opens the store that an operator chose for responses, of the kinds whose jars are there. */
final class ResponseStores {
    private ResponseStores() {}

    /** Connects to the store, which the caller owns. Throws {@link StartException} when that is not possible. */
    static ResponseStore open(ResponseCacheSettings.Shared settings) {
        List<String> kinds = new ArrayList<>(List.of("local"));
        // By this class's own loader: an application's thread may know another, which does not have them.
        for (ResponseStoreProvider provider :
                ServiceLoader.load(ResponseStoreProvider.class, ResponseStores.class.getClassLoader())) {
            if (provider.name().equals(settings.kind())) {
                try {
                    return provider.open(settings.options());
                } catch (GatunException e) {
                    throw new StartException("--cache-config: " + e.getMessage(), e);
                }
            }
            kinds.add(provider.name());
        }
        throw new StartException(
                "--cache-config: there is no cache '" + settings.kind() + "'; there are: " + String.join(", ", kinds));
    }
}
