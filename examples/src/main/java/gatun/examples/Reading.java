// SPDX-License-Identifier: Apache-2.0
package gatun.examples;

/**
 * The digit that the network reads in a picture.
 *
 * @param digit 0 to 9, the most probable one
 * @param confidence its probability, 0 to 1
 */
record Reading(int digit, float confidence) {

    /**
     * The most probable digit.
     *
     * @param probabilities one for each digit
     * @throws DigitException if there are not exactly ten
     */
    static Reading of(float[] probabilities) {
        if (probabilities.length != 10) {
            throw new DigitException("The server answered " + probabilities.length
                    + " probabilities, not 10: is its model 'digits' the one of examples/models?");
        }
        int best = 0;
        for (int digit = 1; digit < probabilities.length; digit++) {
            if (probabilities[digit] > probabilities[best]) {
                best = digit;
            }
        }
        return new Reading(best, probabilities[best]);
    }
}
