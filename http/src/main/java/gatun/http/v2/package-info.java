/** The v2 protocol over HTTP: its paths, its JSON, and the bytes of tensors beside it. */
@NullMarked
package gatun.http.v2;

import org.jspecify.annotations.NullMarked;
