// SPDX-License-Identifier: Apache-2.0
/** The v2 protocol over HTTP: its paths, its JSON, and the bytes of tensors beside it. */
@NullMarked
package gatun.v2.http;

import org.jspecify.annotations.NullMarked;
