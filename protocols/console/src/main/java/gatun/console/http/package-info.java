// SPDX-License-Identifier: Apache-2.0
/** The routes of the console: the files of its page, and its API in JSON. */
@NullMarked
package gatun.console.http;

import org.jspecify.annotations.NullMarked;
