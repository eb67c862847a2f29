/** The HTTP listener: what a listener is set up with, and how failures are answered. */
@NullMarked
package gatun.http;

import org.jspecify.annotations.NullMarked;
