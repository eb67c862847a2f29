/** Archives: tar and zip files that hold a repository or a model. */
@NullMarked
package gatun.stores.archive;

import org.jspecify.annotations.NullMarked;
