// SPDX-License-Identifier: Apache-2.0
/** The legacy v1 API as the server speaks it: its routes and its service. */
@NullMarked
package gatun.v1.protocol;

import org.jspecify.annotations.NullMarked;
