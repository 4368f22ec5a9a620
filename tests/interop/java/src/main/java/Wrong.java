/** A difference from the script. */
final class Wrong extends RuntimeException {
  Wrong(String message) {
    super(message);
  }
}
