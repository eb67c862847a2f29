/** Finds models in directories and takes them through their life. */
@NullMarked
package gatun.runtime.repository;

import org.jspecify.annotations.NullMarked;
