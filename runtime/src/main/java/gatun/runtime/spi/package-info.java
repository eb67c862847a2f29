/** What an engine implements to be a Backend. */
@NullMarked
package gatun.runtime.spi;

import org.jspecify.annotations.NullMarked;
