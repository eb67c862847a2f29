/** Reads the digit in a picture with the model {@code digits}, over each way to reach the server. */
@NullMarked
package gatun.examples;

import org.jspecify.annotations.NullMarked;
