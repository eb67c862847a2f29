/** The program that runs in the process of an engine. */
@NullMarked
package gatun.isolation.engine;

import org.jspecify.annotations.NullMarked;
