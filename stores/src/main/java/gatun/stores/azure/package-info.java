/** Azure Blob Storage. */
@NullMarked
package gatun.stores.azure;

import org.jspecify.annotations.NullMarked;
