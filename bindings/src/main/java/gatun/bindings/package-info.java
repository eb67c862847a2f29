/**
 * The one door to native code: thin classes in front of the generated bindings.
 *
 * <p>Nothing outside this module calls a restricted method of {@code java.lang.foreign}. The generated classes live in
 * a package per library and are not exported, or only to the one module that drives that library.
 */
@NullMarked
package gatun.bindings;

import org.jspecify.annotations.NullMarked;
