/** Configurations beside model files, parameters, element types of engines, and strings. */
@NullMarked
package gatun.backend.support;

import org.jspecify.annotations.NullMarked;
