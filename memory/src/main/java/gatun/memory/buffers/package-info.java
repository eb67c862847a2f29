/**
 * Memory that the server owns: one pool in native memory, cut into blocks, lent as buffers that are closed exactly
 * once. Bytes on their way in are reserved as they arrive, so that what senders announce costs nothing; those of one
 * sender share what it may take.
 */
@NullMarked
package gatun.memory.buffers;

import org.jspecify.annotations.NullMarked;
