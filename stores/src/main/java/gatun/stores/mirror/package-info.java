/** Keeps local folders of models equal to what stores hold. */
@NullMarked
package gatun.stores.mirror;

import org.jspecify.annotations.NullMarked;
