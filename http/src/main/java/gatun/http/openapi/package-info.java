// SPDX-License-Identifier: Apache-2.0
/** What a path's requests and responses are, as OpenAPI describes them. Knows no protocol. */
@NullMarked
package gatun.http.openapi;

import org.jspecify.annotations.NullMarked;
