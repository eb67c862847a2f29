// SPDX-License-Identifier: Apache-2.0
/** The console as a protocol of the server. */
@NullMarked
package gatun.console.protocol;

import org.jspecify.annotations.NullMarked;
