// SPDX-License-Identifier: Apache-2.0
/** The legacy v1 API over HTTP. */
@NullMarked
package gatun.v1.http;

import org.jspecify.annotations.NullMarked;
