package gatun.runtime.limits;

/**
 * What one model's configuration may ask for. Checked before anything is made of it.
 *
 * @param instances the most instances of a model, those of all its groups together
 */
public record ModelLimits(int instances) {
    /** More instances than any machine has cores. */
    public static final ModelLimits STANDARD = new ModelLimits(1024);

    /** Checks that each limit lets something through. */
    public ModelLimits {
        if (instances < 1) {
            throw new IllegalArgumentException(
                    "the limit of a model's instances is " + instances + ": expected at least 1");
        }
    }
}
