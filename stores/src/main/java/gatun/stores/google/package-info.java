/** Google Cloud Storage. */
@NullMarked
package gatun.stores.google;

import org.jspecify.annotations.NullMarked;
