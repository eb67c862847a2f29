/**
 * The files of forests, read before their libraries read them: those trust a file, and end the process over a damaged
 * one.
 */
@NullMarked
package gatun.backend.trees.files;

import org.jspecify.annotations.NullMarked;
