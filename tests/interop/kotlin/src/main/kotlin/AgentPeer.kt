// The agent of the script.
import com.agentclientprotocol.model.*
import com.agentclientprotocol.model.AcpMethod.*
import com.agentclientprotocol.protocol.*
import com.agentclientprotocol.rpc.MethodName
import java.io.*
import java.net.URLDecoder
import kotlinx.coroutines.*
import kotlinx.serialization.json.*

suspend fun agent(options: Map<String, String>) {
    val player =
        Player(
            Json.parseToJsonElement(File(options.getValue("script")).readText()) as JsonObject,
            "agent",
        )
    player.scope = CoroutineScope(Dispatchers.Default)
    // At the end of its input the SDK closes its output from the reading thread, also while the
    // writing thread is still flushing: then the last line goes out twice. So the end is told a
    // little later.
    val input =
        object : FilterInputStream(System.`in`) {
            override fun read(data: ByteArray, from: Int, length: Int) =
                super.read(data, from, length).also { if (it < 0) Thread.sleep(50) }
        }
    val (protocol, closed) = connect(player.scope, input, FileOutputStream(FileDescriptor.out))
    protocol.serve(player, AgentMethods.Initialize)
    protocol.serve(player, AgentMethods.SessionNew)
    protocol.serve(player, AgentMethods.SessionPrompt)
    protocol.setRequestHandlerRaw(Echo) {
        player.receive(Echo.methodName.name, it.params ?: JsonNull)
    }
    protocol.listen(player, AgentMethods.SessionCancel)
    player.request = { method, params ->
        when (method) {
            "fs/read_text_file" -> protocol.call(ClientMethods.FsReadTextFile, params)
            "fs/write_text_file" -> protocol.call(ClientMethods.FsWriteTextFile, params)
            "session/request_permission" ->
                protocol.call(ClientMethods.SessionRequestPermission, params)
            "terminal/create" -> protocol.call(ClientMethods.TerminalCreate, params)
            "terminal/wait_for_exit" -> protocol.call(ClientMethods.TerminalWaitForExit, params)
            "terminal/output" -> protocol.call(ClientMethods.TerminalOutput, params)
            "terminal/release" -> protocol.call(ClientMethods.TerminalRelease, params)
            else -> protocol.sendRequestRaw(MethodName(method), params)
        }
    }
    player.tell = { _, params -> protocol.tell(ClientMethods.SessionUpdate, params) }
    player.perform = { method, _, expected ->
        if (method != "initialize") expected
        else
            JsonObject(
                (expected as JsonObject) +
                    ("agentInfo" to
                        buildJsonObject {
                            put("name", "libacp-interop-kotlin-agent")
                            put("version", "0.1.0")
                        })
            )
    }
    player.bind = { method, params ->
        if (method == "initialize") player.requireName("clientInfo", params.at("clientInfo"))
        if (method == "session/new") player.vars["cwd"] = params.at("cwd").text
        if (method == "session/prompt" && "work" !in player.vars) {
            val uri = (params.at("prompt") as JsonArray).firstNotNullOf { it.at("uri") }.text
            val path = uri.removePrefix("file://").removeSuffix("/notes.md")
            player.vars["work_uri"] = path
            player.vars["work"] = URLDecoder.decode(path.replace("+", "%2B"), "UTF-8")
        }
    }
    protocol.start()
    player.run()
    closed.await()
    player.expectEmpty()
}
