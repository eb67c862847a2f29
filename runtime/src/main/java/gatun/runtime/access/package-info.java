/** Who may ask for what: groups of requests only for some clients, and what of their headers a model learns. */
@NullMarked
package gatun.runtime.access;

import org.jspecify.annotations.NullMarked;
