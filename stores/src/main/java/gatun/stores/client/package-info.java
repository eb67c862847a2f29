/** Lists and fetches objects over HTTP within limits; knows no kind of store. */
@NullMarked
package gatun.stores.client;

import org.jspecify.annotations.NullMarked;
