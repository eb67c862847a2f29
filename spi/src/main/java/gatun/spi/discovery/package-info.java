// SPDX-License-Identifier: Apache-2.0
/** Finds the engines that a process can use. */
@NullMarked
package gatun.spi.discovery;

import org.jspecify.annotations.NullMarked;
