/** A backend that is no part of the server: an example for your own. */
@NullMarked
package com.example.affine;

import org.jspecify.annotations.NullMarked;
