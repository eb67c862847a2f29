/** The only door to native code: thin classes in front of what jextract generated. */
@NullMarked
package gatun.bindings;

import org.jspecify.annotations.NullMarked;
