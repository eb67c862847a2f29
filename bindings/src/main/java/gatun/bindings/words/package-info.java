/** C functions whose parameters and results are words: pointers and integers. */
@NullMarked
package gatun.bindings.words;

import org.jspecify.annotations.NullMarked;
