/** JSON as the v2 protocol reads and writes it: text in native memory, tensors without an object per element. */
@NullMarked
package gatun.http.json;

import org.jspecify.annotations.NullMarked;
