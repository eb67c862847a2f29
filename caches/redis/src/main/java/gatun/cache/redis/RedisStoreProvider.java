// SPDX-License-Identifier: Apache-2.0
package gatun.cache.redis;

import gatun.spi.ResponseStore;
import gatun.spi.ResponseStoreProvider;
import java.util.Map;

/** Connects to Redis servers, with the options of Triton's Redis cache. Stateless. */
public final class RedisStoreProvider implements ResponseStoreProvider {
    /** For the service loader. */
    public RedisStoreProvider() {}

    @Override
    public String name() {
        return "redis";
    }

    @Override
    public ResponseStore open(Map<String, String> options) {
        return RedisStore.open(RedisSettings.of(new RedisOptions(options, System::getenv)));
    }
}
