/**
 * Responses in a Redis server: {@link gatun.cache.redis.RedisStoreProvider} reads the options and connects,
 * {@link gatun.cache.redis.RedisStore} gets and puts.
 */
@NullMarked
package gatun.cache.redis;

import org.jspecify.annotations.NullMarked;
