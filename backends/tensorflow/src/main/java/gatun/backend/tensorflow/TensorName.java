package gatun.backend.tensorflow;

/** How graphs name a tensor: {@code operation:output}, where {@code :0} may be left out and {@code ^} marks what only has to be done before. */
final class TensorName {
    private TensorName() {}

    /** The operation that makes the tensor. */
    static String operation(String tensor) {
        int from = tensor.startsWith("^") ? 1 : 0;
        int colon = tensor.lastIndexOf(':');
        return tensor.substring(from, colon < 0 ? tensor.length() : colon);
    }

    /** Which of the operation's outputs it is. */
    static int index(String tensor) {
        int colon = tensor.lastIndexOf(':');
        return colon < 0 ? 0 : Integer.parseInt(tensor, colon + 1, tensor.length(), 10);
    }
}
