// SPDX-License-Identifier: Apache-2.0
/** The legacy v1 API as a protocol of the server. */
@NullMarked
package gatun.v1.protocol;

import org.jspecify.annotations.NullMarked;
