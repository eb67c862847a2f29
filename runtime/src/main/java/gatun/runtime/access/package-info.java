/**
 * Who may ask for what: groups of requests that only some clients may send, and what of a client's headers a model
 * learns.
 */
@NullMarked
package gatun.runtime.access;

import org.jspecify.annotations.NullMarked;
