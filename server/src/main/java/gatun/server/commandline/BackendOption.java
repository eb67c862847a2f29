// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

/**
 * One {@code --backend-config}.
 *
 * @param backend the backend that it is for
 * @param name what it sets
 * @param value to what
 */
record BackendOption(String backend, String name, String value) {}
