/** The legacy v1 API over HTTP. */
@NullMarked
package gatun.http.v1;

import org.jspecify.annotations.NullMarked;
