/** What the server and the process of an engine say to each other. */
@NullMarked
package gatun.isolation.frames;

import org.jspecify.annotations.NullMarked;
