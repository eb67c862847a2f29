// SPDX-License-Identifier: Apache-2.0
/** The v2 protocol as the server speaks it: its routes and its services. */
@NullMarked
package gatun.v2.protocol;

import org.jspecify.annotations.NullMarked;
