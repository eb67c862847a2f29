/**
 * Where a run goes: on which thread, and who looks after threads that were lent for it. Knows neither schedulers nor
 * protocols, which ask it.
 */
@NullMarked
package gatun.runtime.placement;

import org.jspecify.annotations.NullMarked;
