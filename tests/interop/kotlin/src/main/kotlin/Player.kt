// Plays one role of the script: sends its steps, waits for the other role's and compares them.
import kotlinx.coroutines.*
import kotlinx.coroutines.channels.Channel
import kotlinx.serialization.json.*

class Item(
    val kind: String,
    val name: String,
    val value: JsonElement?,
    val error: Throwable? = null,
) {
    val reply = CompletableDeferred<JsonElement>()
}

class Open(val at: String, val item: Item?, val request: JsonObject)

/**
 * Keeps notifications apart from the rest: the SDK handles them in its reading loop, requests and
 * results in coroutines.
 */
class Player(val script: JsonObject, private val role: String) {
    val vars = mutableMapOf<String, String>()
    var updates = 0L
    @Volatile var at = "start"
    private val messages = Checksum()
    private val notifications = Channel<Item>(Channel.UNLIMITED)
    private val others = Channel<Item>(Channel.UNLIMITED)
    private val open = mutableMapOf<String, Open>()
    lateinit var scope: CoroutineScope
    lateinit var request: suspend (String, JsonElement) -> JsonElement
    lateinit var tell: (String, JsonElement) -> Unit
    lateinit var perform: suspend (String, JsonElement, JsonElement) -> JsonElement
    var bind: (String, JsonElement) -> Unit = { _, _ -> }

    fun push(item: Item) {
        (if (item.kind == "notification") notifications else others).trySend(item)
    }

    suspend fun receive(method: String, params: JsonElement): JsonElement =
        Item("request", method, params).also(::push).reply.await()

    suspend fun run() {
        play(script["steps"] as JsonArray, "/steps")
        at = "end"
        expectEmpty()
        val totals = buildJsonObject {
            put("updates", updates)
            put("messageBytes", messages.bytes)
            put("messageFnv1a32", messages.fnv1a32)
        }
        check(script.getValue("totals"), totals, "")
    }

    fun expectEmpty() {
        for (queue in listOf(notifications, others)) queue.tryReceive().getOrNull()?.let {
            throw Wrong("$at: unexpected ${it.kind} ${it.name}")
        }
    }

    private suspend fun take(kind: String, name: String): Item {
        val item = (if (kind == "notification") notifications else others).receive()
        if (item.kind != kind || item.name != name)
            throw Wrong("$at: expected $kind $name, got ${item.kind} ${item.name}")
        return item
    }

    private fun check(expected: JsonElement, actual: JsonElement?, name: String) {
        difference(expected, actual, "", name.startsWith("_"))?.let { throw Wrong(at + it) }
    }

    private suspend fun play(steps: JsonArray, path: String) {
        for ((i, value) in steps.withIndex()) {
            val step = value as JsonObject
            at = "$path/$i"
            when {
                "chunks" in step -> chunks(step)
                "notify" in step -> tell(step["by"].text, step["notify"].text, step["params"])
                "answer" in step -> answer(step)
                else -> ask(step, at)
            }
        }
    }

    private suspend fun chunks(step: JsonObject) {
        val sum = Checksum()
        var count = 0
        for (text in (step["chunks"] as JsonArray).flatMap(::expand)) {
            val params = buildJsonObject {
                put("sessionId", (script["steps"] as JsonArray)[1].at("result").at("sessionId")!!)
                putJsonObject("update") {
                    put("sessionUpdate", "agent_message_chunk")
                    putJsonObject("content") {
                        put("type", "text")
                        put("text", text)
                    }
                }
            }
            val got =
                tell(step["by"].text, "session/update", params)
                    .at("update")
                    .at("content")
                    .at("text")
                    .text
                    .toByteArray()
            sum.add(got)
            messages.add(got)
            count++
        }
        val found = buildJsonObject {
            put("count", count)
            put("bytes", sum.bytes)
            put("fnv1a32", sum.fnv1a32)
        }
        check(JsonObject(step.filterKeys { it in found }), found, "")
    }

    private suspend fun tell(by: String, method: String, template: JsonElement?): JsonElement {
        if (method == "session/update") updates++
        val params = fill(template, vars)
        if (by == role) return params.also { tell(method, it) }
        return take("notification", method).value!!.also { check(params, it, method) }
    }

    private suspend fun answer(step: JsonObject) {
        val was = open.getValue(step["answer"].text)
        if (step["by"].text == role) was.item!!.reply.complete(was.request.getValue("result"))
        else result(was.request, was.at)
    }

    private suspend fun ask(step: JsonObject, at: String) {
        val method = step["request"].text
        if (step["by"].text == role) {
            // Undispatched: the request is on its way before anything that follows.
            scope.launch(start = CoroutineStart.UNDISPATCHED) {
                val item =
                    try {
                        Item("result", at, request(method, fill(step["params"], vars)))
                    } catch (error: Exception) {
                        Item("result", at, null, error)
                    }
                push(item)
            }
            step["open"]?.let {
                open[it.text] = Open(at, null, step)
                return
            }
            (step["during"] as? JsonArray)?.let { play(it, "$at/during") }
            this.at = at
            return result(step, at)
        }
        val item = take("request", method)
        bind(method, item.value!!)
        check(fill(step["params"], vars), item.value, method)
        step["open"]?.let {
            open[it.text] = Open(at, item, step)
            return
        }
        (step["during"] as? JsonArray)?.let { play(it, "$at/during") }
        this.at = at
        val result = perform(method, item.value, step.getValue("result"))
        check(step.getValue("result"), result, method)
        item.reply.complete(result)
    }

    private suspend fun result(step: JsonObject, at: String) {
        val item = take("result", at)
        item.error?.let { throw Wrong("$at: ${step["request"].text} failed: $it") }
        if (step["request"].text == "initialize")
            requireName("agentInfo", item.value.at("agentInfo"))
        check(step.getValue("result"), item.value, step["request"].text)
    }

    fun requireName(member: String, info: JsonElement?) {
        if (info.at("name")?.text.isNullOrEmpty() || info.at("version")?.text.isNullOrEmpty())
            throw Wrong("$at: $member lacks a name or a version")
    }
}
