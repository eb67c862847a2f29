/** The metrics page that Prometheus scrapes. */
@NullMarked
package gatun.http.metrics;

import org.jspecify.annotations.NullMarked;
