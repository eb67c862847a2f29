/**
 * What a flight recording of the JVM tells of a server's requests, runs and models. Nothing is made, and no clock is
 * read, unless a recording wants it.
 */
@NullMarked
package gatun.runtime.events;

import org.jspecify.annotations.NullMarked;
