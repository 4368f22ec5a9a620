// The client of the script.
import com.agentclientprotocol.model.*
import com.agentclientprotocol.model.AcpMethod.*
import com.agentclientprotocol.protocol.*
import com.agentclientprotocol.rpc.MethodName
import java.io.*
import kotlinx.coroutines.*
import kotlinx.serialization.json.*

suspend fun client(options: Map<String, String>, argv: List<String>): JsonObject {
    val script = Json.parseToJsonElement(File(options.getValue("script")).readText()) as JsonObject
    val work = options.getValue("work")
    for ((name, rule) in script["files"] as JsonObject) File(work, name)
        .writeText(expand(rule).joinToString(""))
    val trace = options["trace"]?.let { File(it).bufferedWriter() }
    val start = System.nanoTime()
    fun record(direction: String): (ByteArray) -> Unit = { line ->
        trace?.run {
            val ms = (System.nanoTime() - start) / 1000 / 1000.0
            synchronized(this) {
                write(
                    "${buildJsonObject { put("d", direction)
 put("ms", ms)
 put("s", String(line)) }}\n"
                )
                flush()
            }
        }
    }
    val child = ProcessBuilder(argv).redirectError(ProcessBuilder.Redirect.INHERIT).start()
    val sent = Tap(child.outputStream, record(">"))
    val received = Tap(OutputStream.nullOutputStream(), record("<"))
    val input =
        object : FilterInputStream(child.inputStream) {
            override fun read(data: ByteArray, from: Int, length: Int) =
                super.read(data, from, length).also { if (it > 0) received.count(data, from, it) }
        }
    val player = Player(script, "client")
    player.scope = CoroutineScope(Dispatchers.Default)
    player.vars +=
        mapOf(
            "cwd" to (options["cwd"] ?: System.getProperty("user.dir")),
            "work" to work,
            "work_uri" to pathToUri(work),
        )
    val workspace = Workspace()
    val (protocol, closed) = connect(player.scope, input, sent)
    protocol.serve(player, ClientMethods.SessionRequestPermission)
    protocol.serve(player, ClientMethods.FsReadTextFile)
    protocol.serve(player, ClientMethods.FsWriteTextFile)
    protocol.serve(player, ClientMethods.TerminalCreate)
    protocol.serve(player, ClientMethods.TerminalWaitForExit)
    protocol.serve(player, ClientMethods.TerminalOutput)
    protocol.serve(player, ClientMethods.TerminalRelease)
    protocol.setRequestHandlerRaw(Echo) {
        player.receive(Echo.methodName.name, it.params ?: JsonNull)
    }
    protocol.listen(player, ClientMethods.SessionUpdate)
    player.request = { method, params ->
        when (method) {
            "initialize" ->
                protocol.call(
                    AgentMethods.Initialize,
                    JsonObject(
                        (params as JsonObject) +
                            ("clientInfo" to
                                buildJsonObject {
                                    put("name", "libacp-interop-kotlin-client")
                                    put("version", "0.1.0")
                                })
                    ),
                )
            "session/new" -> protocol.call(AgentMethods.SessionNew, params)
            "session/prompt" -> protocol.call(AgentMethods.SessionPrompt, params)
            else -> protocol.sendRequestRaw(MethodName(method), params)
        }
    }
    player.tell = { _, params -> protocol.tell(AgentMethods.SessionCancel, params) }
    player.perform = { method, params, _ ->
        withContext(Dispatchers.IO) { workspace.perform(method, params) }
    }
    protocol.start()
    try {
        try {
            withTimeout(script["deadlineMs"].int(0).toLong()) { player.run() }
        } catch (error: TimeoutCancellationException) {
            throw Wrong("${player.at}: no answer in time")
        }
        child.outputStream.close()
        closed.await()
        val status = child.waitFor()
        if (status != 0) throw Wrong("the agent ended with $status")
        player.expectEmpty()
        if (workspace.terminals.isNotEmpty()) throw Wrong("a terminal was not released")
        for ((name, expected) in script["written"] as JsonObject) {
            val sum = Checksum().apply { add(File(work, name).readBytes()) }
            difference(
                    expected,
                    buildJsonObject {
                        put("bytes", sum.bytes)
                        put("fnv1a32", sum.fnv1a32)
                    },
                    name,
                    false,
                )
                ?.let { throw Wrong(it) }
        }
        difference(
                script.getValue("lines"),
                buildJsonObject {
                    put("fromClient", sent.lines)
                    put("fromAgent", received.lines)
                },
                "lines",
                false,
            )
            ?.let { throw Wrong(it) }
    } finally {
        child.destroyForcibly()
    }
    return buildJsonObject {
        put("ok", true)
        put("messages_sent", sent.lines)
        put("messages_received", received.lines)
        put("bytes_sent", sent.bytes)
        put("bytes_received", received.bytes)
        put("updates", player.updates)
    }
}
