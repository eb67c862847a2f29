/** Reads the files for Kubernetes as strictly as its API server with validation would. */
@NullMarked
package gatun.kubernetes;

import org.jspecify.annotations.NullMarked;
