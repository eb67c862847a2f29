/** Parts that engines share: configurations beside model files, parameters, element types of engines, and strings. */
@NullMarked
package gatun.spi.model;

import org.jspecify.annotations.NullMarked;
