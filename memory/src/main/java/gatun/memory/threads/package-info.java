/** Long-lived threads, and failures that must not end them. */
@NullMarked
package gatun.memory.threads;

import org.jspecify.annotations.NullMarked;
