// SPDX-License-Identifier: Apache-2.0
package gatun.console.http;

/**
 * Something that an operator should know.
 *
 * @param severity how bad it is
 * @param code what it is, for programs
 * @param subject what it is about: a model, a file, or nothing in particular
 * @param text what is wrong
 * @param advice what to do
 */
record ConsoleAlert(Severity severity, String code, String subject, String text, String advice) {
    /** How bad an alert is; the worst first. */
    enum Severity {
        ERROR("error"),
        WARNING("warning");

        private final String wireName;

        Severity(String wireName) {
            this.wireName = wireName;
        }

        String wireName() {
            return wireName;
        }
    }
}
