/** Checks a request, runs it on an instance and builds its response. */
@NullMarked
package gatun.runtime.execution;

import org.jspecify.annotations.NullMarked;
