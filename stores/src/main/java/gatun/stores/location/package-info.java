/** Where a model repository lies that is no folder: URLs of object stores and archives, and their credentials. */
@NullMarked
package gatun.stores.location;

import org.jspecify.annotations.NullMarked;
