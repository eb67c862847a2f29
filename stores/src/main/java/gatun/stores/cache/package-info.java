/** The folder on disk that keeps fetched files, shared by servers. */
@NullMarked
package gatun.stores.cache;

import org.jspecify.annotations.NullMarked;
