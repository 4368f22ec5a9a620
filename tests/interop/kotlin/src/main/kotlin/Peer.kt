// Both roles of ../script.json on the Kotlin SDK: `java PeerKt client|agent --script ...`.
import java.io.*
import kotlinx.coroutines.runBlocking
import kotlinx.serialization.json.*

fun main(args: Array<String>) {
    val split = args.indexOf("--").let { if (it < 0) args.size else it }
    val options =
        args.slice(1 until split).chunked(2).associate { (name, value) ->
            name.removePrefix("--") to value
        }
    val status =
        try {
            runBlocking {
                if (args[0] == "agent") agent(options)
                else
                    PrintStream(FileOutputStream(FileDescriptor.out), true, Charsets.UTF_8)
                        .println(client(options, args.drop(split + 1)))
            }
            0
        } catch (error: Throwable) {
            val said = error.message ?: "$error"
            if (args[0] == "agent") System.err.println("kotlin agent: $said")
            else
                println(
                    buildJsonObject {
                        put("ok", false)
                        put("error", said)
                    }
                )
            1
        }
    Runtime.getRuntime().halt(status)
}
