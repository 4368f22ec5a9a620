import com.fasterxml.jackson.databind.*;
import com.fasterxml.jackson.databind.node.*;
import java.nio.charset.StandardCharsets;
import java.util.*;

/** The script of ../script.json: placeholders, generated texts and the comparison. */
final class Script {
  static final ObjectMapper M = new ObjectMapper();

  private Script() {}

  static List<String> expand(JsonNode rule) {
    if (rule.isTextual()) return List.of(rule.asText());
    if (rule.has("repeat"))
      return List.of(rule.get("repeat").asText().repeat(rule.get("times").asInt()));
    List<String> texts = new ArrayList<>();
    for (int i = rule.get("from").asInt(); i <= rule.get("to").asInt(); i++)
      texts.add(rule.get("series").asText().replace("{i}", Integer.toString(i)));
    return texts;
  }

  static JsonNode fill(JsonNode value, Map<String, String> vars) {
    if (value == null) return NullNode.instance;
    if (value.isTextual()) {
      String text = value.asText();
      for (var one : vars.entrySet()) text = text.replace("{" + one.getKey() + "}", one.getValue());
      return TextNode.valueOf(text);
    }
    if (value.isArray()) {
      ArrayNode list = M.createArrayNode();
      value.forEach(item -> list.add(fill(item, vars)));
      return list;
    }
    if (value.isObject()) {
      ObjectNode filled = M.createObjectNode();
      value.fields().forEachRemaining(one -> filled.set(one.getKey(), fill(one.getValue(), vars)));
      return filled;
    }
    return value;
  }

  static String brief(JsonNode value) {
    String text = String.valueOf(value);
    return text.length() > 160 ? text.substring(0, 160) + "... (" + text.length() + ")" : text;
  }

  static boolean none(JsonNode value) {
    return value == null || value.isNull() || value.isMissingNode();
  }

  static String difference(JsonNode expected, JsonNode actual, String at, boolean exact) {
    if (!exact && (expected.isNull() || expected.isObject() && expected.isEmpty()) && none(actual))
      return null;
    String differs = at + ": expected " + brief(expected) + ", got " + brief(actual);
    if (actual == null) return differs;
    if (expected.isArray() && actual.isArray()) {
      if (expected.size() != actual.size())
        return at + ": " + expected.size() + " items expected, " + actual.size() + " came";
      for (int i = 0; i < expected.size(); i++) {
        String found = difference(expected.get(i), actual.get(i), at + "/" + i, exact);
        if (found != null) return found;
      }
      return null;
    }
    if (expected.isObject() && actual.isObject()) {
      if (exact && expected.size() != actual.size()) return differs;
      for (var names = expected.fieldNames(); names.hasNext(); ) {
        String name = names.next();
        String found = difference(expected.get(name), actual.get(name), at + "/" + name, exact);
        if (found != null) return found;
      }
      return null;
    }
    if (expected.isNumber() && actual.isNumber())
      return expected.decimalValue().compareTo(actual.decimalValue()) == 0 ? null : differs;
    return expected.equals(actual) ? null : differs;
  }

  static String pathToUri(String path) {
    StringBuilder out = new StringBuilder();
    for (byte b : path.getBytes(StandardCharsets.UTF_8)) {
      char c = (char) (b & 0xff);
      if (c < 128 && (Character.isLetterOrDigit(c) || "-._~/".indexOf(c) >= 0)) out.append(c);
      else out.append(String.format("%%%02X", b & 0xff));
    }
    return out.toString();
  }
}
