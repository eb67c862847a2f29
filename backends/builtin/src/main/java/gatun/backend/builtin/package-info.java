/** Models that are all configuration: their outputs are their inputs, after a time, one by one, or summed up. */
@NullMarked
package gatun.backend.builtin;

import org.jspecify.annotations.NullMarked;
