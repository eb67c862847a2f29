// SPDX-License-Identifier: Apache-2.0
package gatun.http.json;

/** The type of a JSON value. */
public enum JsonKind {
    /** Members in braces. */
    OBJECT,
    /** Elements in brackets. */
    ARRAY,
    /** A text. */
    STRING,
    /** A number, {@code NaN} and the infinities included. */
    NUMBER,
    /** {@code true} or {@code false}. */
    BOOLEAN,
    /** {@code null}. */
    NULL
}
