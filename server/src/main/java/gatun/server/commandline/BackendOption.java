// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

/**
 * One {@code --backend-config}.
 *
 * @param backend the backend that it is for
 * @param name the name of the option
 * @param value the value of the option
 */
record BackendOption(String backend, String name, String value) {}
