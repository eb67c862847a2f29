/**
 * Memory that clients own: POSIX objects, sealed memfds and CUDA allocations that they register under a name. A request
 * borrows a window of a region by a lease. The object stays mapped until the last lease is settled and closed, whatever
 * happens to its name meanwhile; a client that takes the memory away breaks its own requests only.
 */
@NullMarked
package gatun.memory.regions;

import org.jspecify.annotations.NullMarked;
