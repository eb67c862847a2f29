// SPDX-License-Identifier: Apache-2.0
package gatun.client;

/** How bodies are compressed. */
public enum Compression {
    /** Not at all. */
    NONE,
    /** By gzip. */
    GZIP,
    /** By deflate, in the zlib format; over HTTP only. */
    DEFLATE
}
