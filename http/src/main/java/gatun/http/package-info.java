/** The HTTP listener: its settings, and how failures are answered. */
@NullMarked
package gatun.http;

import org.jspecify.annotations.NullMarked;
