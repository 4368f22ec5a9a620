import com.fasterxml.jackson.databind.node.ObjectNode;

/** FNV-1a with 32 bits, and the length. */
final class Checksum {
  int hash = 0x811c9dc5;
  long bytes;

  void add(byte[] data) {
    for (byte b : data) hash = (hash ^ (b & 0xff)) * 0x01000193;
    bytes += data.length;
  }

  String fnv1a32() {
    return String.format("%08x", hash);
  }

  ObjectNode put(ObjectNode node, String bytesName, String hashName) {
    return node.put(bytesName, bytes).put(hashName, fnv1a32());
  }
}
