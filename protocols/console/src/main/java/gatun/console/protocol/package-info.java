// SPDX-License-Identifier: Apache-2.0
/** The console as the server offers it. */
@NullMarked
package gatun.console.protocol;

import org.jspecify.annotations.NullMarked;
