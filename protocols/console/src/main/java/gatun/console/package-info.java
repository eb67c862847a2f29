// SPDX-License-Identifier: Apache-2.0
/** What the console asks of the program around the server: its connections, lanes and certificates. */
@NullMarked
package gatun.console;

import org.jspecify.annotations.NullMarked;
