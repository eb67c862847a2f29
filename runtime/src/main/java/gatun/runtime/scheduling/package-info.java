/** Brings requests to the threads that run models. Knows no engine and no protocol. */
@NullMarked
package gatun.runtime.scheduling;

import org.jspecify.annotations.NullMarked;
