// What the client really does for the agent.
import java.io.File
import java.util.concurrent.CompletableFuture
import kotlinx.serialization.json.*

class Workspace {
    class Terminal(val process: Process, val output: CompletableFuture<ByteArray>, val limit: Int)

    val terminals = mutableMapOf<String, Terminal>()
    private var started = 0

    fun perform(method: String, params: JsonElement): JsonElement =
        when (method) {
            "fs/read_text_file" -> {
                val lines = File(params.at("path").text).readText().split(Regex("(?<=\n)"))
                val from = params.at("line").int(1) - 1
                buildJsonObject {
                    put(
                        "content",
                        lines.drop(from).take(params.at("limit").int(lines.size)).joinToString(""),
                    )
                }
            }
            "fs/write_text_file" -> {
                File(params.at("path").text).writeText(params.at("content").text)
                JsonObject(emptyMap())
            }
            "session/request_permission" -> {
                val option =
                    (params.at("options") as JsonArray).first { it.at("kind").text == "allow_once" }
                buildJsonObject {
                    putJsonObject("outcome") {
                        put("outcome", "selected")
                        put("optionId", option.at("optionId")!!)
                    }
                }
            }
            "terminal/create" -> {
                val args = (params.at("args") as? JsonArray).orEmpty().map { it.text }
                val builder =
                    ProcessBuilder(listOf(params.at("command").text) + args)
                        .redirectErrorStream(true)
                for (one in (params.at("env") as? JsonArray).orEmpty()) builder
                    .environment()[one.at("name").text] = one.at("value").text
                params.at("cwd")?.let { builder.directory(File(it.text)) }
                val process = builder.start()
                process.outputStream.close()
                val id = "term-${++started}"
                terminals[id] =
                    Terminal(
                        process,
                        CompletableFuture.supplyAsync { process.inputStream.readAllBytes() },
                        params.at("outputByteLimit").int(1 shl 30),
                    )
                buildJsonObject { put("terminalId", id) }
            }
            "terminal/wait_for_exit" ->
                buildJsonObject {
                    put(
                        "exitCode",
                        terminals.getValue(params.at("terminalId").text).process.waitFor(),
                    )
                }
            "terminal/output" -> {
                val terminal = terminals.getValue(params.at("terminalId").text)
                val all = terminal.output.get()
                val from = maxOf(0, all.size - terminal.limit)
                buildJsonObject {
                    put("output", String(all, from, all.size - from))
                    put("truncated", from > 0)
                    putJsonObject("exitStatus") { put("exitCode", terminal.process.exitValue()) }
                }
            }
            "terminal/release" -> {
                terminals.remove(params.at("terminalId").text)!!.process.destroy()
                JsonObject(emptyMap())
            }
            else -> params
        }
}
