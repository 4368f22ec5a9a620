// The script of ../script.json: placeholders, generated texts and the comparison.
import kotlinx.serialization.json.*

val JsonElement?.text
    get() = (this as JsonPrimitive).content

fun JsonElement?.at(name: String): JsonElement? = (this as? JsonObject)?.get(name)

fun JsonElement?.int(otherwise: Int) = (this as? JsonPrimitive)?.intOrNull ?: otherwise

fun expand(rule: JsonElement): List<String> =
    when {
        rule is JsonPrimitive -> listOf(rule.content)
        rule.at("repeat") != null -> listOf(rule.at("repeat").text.repeat(rule.at("times").int(0)))
        else ->
            (rule.at("from").int(0)..rule.at("to").int(0)).map {
                rule.at("series").text.replace("{i}", "$it")
            }
    }

fun fill(value: JsonElement?, vars: Map<String, String>): JsonElement =
    when (value) {
        is JsonObject -> JsonObject(value.mapValues { fill(it.value, vars) })
        is JsonArray -> JsonArray(value.map { fill(it, vars) })
        is JsonPrimitive ->
            if (value.isString)
                JsonPrimitive(
                    vars.entries.fold(value.content) { text, (name, with) ->
                        text.replace("{$name}", with)
                    }
                )
            else value
        null -> JsonNull
    }

class Checksum {
    private var hash = 0x811c9dc5u
    var bytes = 0L

    fun add(data: ByteArray) {
        for (b in data) hash = (hash xor b.toUByte().toUInt()) * 0x01000193u
        bytes += data.size
    }

    val fnv1a32
        get() = hash.toString(16).padStart(8, '0')
}

fun brief(value: JsonElement?) =
    value.toString().let { if (it.length > 160) "${it.take(160)}... (${it.length})" else it }

fun difference(expected: JsonElement, actual: JsonElement?, at: String, exact: Boolean): String? {
    val none = actual == null || actual is JsonNull
    if (!exact && none && (expected is JsonNull || expected is JsonObject && expected.isEmpty()))
        return null
    val differs = "$at: expected ${brief(expected)}, got ${brief(actual)}"
    return when {
        expected is JsonArray && actual is JsonArray ->
            if (expected.size != actual.size)
                "$at: ${expected.size} items expected, ${actual.size} came"
            else
                expected.indices.firstNotNullOfOrNull {
                    difference(expected[it], actual[it], "$at/$it", exact)
                }
        expected is JsonObject && actual is JsonObject ->
            if (exact && expected.size != actual.size) differs
            else
                expected.keys.firstNotNullOfOrNull {
                    difference(expected.getValue(it), actual[it], "$at/$it", exact)
                }
        expected is JsonPrimitive &&
            actual is JsonPrimitive &&
            expected !is JsonNull &&
            actual !is JsonNull -> {
            val numbers =
                listOf(expected, actual).mapNotNull {
                    if (it.isString) null else it.content.toBigDecimalOrNull()
                }
            val same =
                if (numbers.size == 2) numbers[0].compareTo(numbers[1]) == 0 else expected == actual
            if (same) null else differs
        }
        else -> if (expected is JsonNull && actual is JsonNull) null else differs
    }
}

fun pathToUri(path: String) =
    path.toByteArray().joinToString("") {
        val c = it.toInt() and 0xff
        if (c < 128 && (c.toChar().isLetterOrDigit() || c.toChar() in "-._~/")) "${c.toChar()}"
        else "%%%02X".format(c)
    }

class Wrong(message: String) : Exception(message)
