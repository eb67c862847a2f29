/** The texts that commands print: tables, lists of models, and the version. */
@NullMarked
package gatun.server.text;

import org.jspecify.annotations.NullMarked;
