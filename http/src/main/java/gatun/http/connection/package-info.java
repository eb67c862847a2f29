/** Connections: Helidon's HTTP/1.1, and the way past it that the bytes of tensors take between socket and native memory. */
@NullMarked
package gatun.http.connection;

import org.jspecify.annotations.NullMarked;
