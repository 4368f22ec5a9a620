import java.io.*;
import java.util.function.Consumer;

/** Counts what is written, and shows each line of it. */
class Tap extends FilterOutputStream {
  volatile long lines, bytes;
  final Consumer<byte[]> seen;
  final ByteArrayOutputStream part = new ByteArrayOutputStream();

  Tap(OutputStream to, Consumer<byte[]> seen) {
    super(to);
    this.seen = seen;
  }

  @Override
  public void write(byte[] data) throws IOException {
    write(data, 0, data.length);
  }

  @Override
  public void write(byte[] data, int from, int length) throws IOException {
    // First, as the peer may answer, and the script end, before a write returns.
    count(data, from, length);
    out.write(data, from, length);
  }

  @Override
  public void write(int b) throws IOException {
    write(new byte[] {(byte) b});
  }

  synchronized void count(byte[] data, int from, int length) {
    bytes += length;
    for (int i = from; i < from + length; i++) {
      if (data[i] == '\n') {
        lines++;
        seen.accept(part.toByteArray());
        part.reset();
      } else part.write(data[i]);
    }
  }
}
