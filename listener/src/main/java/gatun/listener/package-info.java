/** The parts that both protocols' listeners need of the one that accepts their connections: its channels, and TLS. */
@NullMarked
package gatun.listener;

import org.jspecify.annotations.NullMarked;
