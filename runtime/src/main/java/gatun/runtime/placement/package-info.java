/**
 * Where a run goes: on which thread, who looks after threads that were lent for it, and what is learned of runs. Knows
 * neither schedulers nor protocols, which ask it.
 */
@NullMarked
package gatun.runtime.placement;

import org.jspecify.annotations.NullMarked;
