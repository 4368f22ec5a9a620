// The SDK: methods with their types, and its transport over streams.

import com.agentclientprotocol.model.*
import com.agentclientprotocol.model.AcpMethod.*
import com.agentclientprotocol.protocol.*
import com.agentclientprotocol.rpc.ACPJson
import com.agentclientprotocol.transport.StdioTransport
import java.io.*
import kotlinx.coroutines.*
import kotlinx.io.asSink
import kotlinx.io.asSource
import kotlinx.io.buffered
import kotlinx.serialization.json.*

/** Extensions have no types: only the name of this is used. */
object Echo :
    AcpRequestResponseMethod<AuthenticateRequest, AuthenticateResponse>(
        "_libacp.dev/echo",
        AuthenticateRequest.serializer(),
        AuthenticateResponse.serializer(),
    )

suspend fun <P : AcpRequest, R : AcpResponse> Protocol.call(
    method: AcpRequestResponseMethod<P, R>,
    params: JsonElement,
): JsonElement =
    ACPJson.encodeToJsonElement(
        method.responseSerializer,
        sendRequest(method, ACPJson.decodeFromJsonElement(method.requestSerializer, params)),
    )

fun <P : AcpRequest, R : AcpResponse> Protocol.serve(
    player: Player,
    method: AcpRequestResponseMethod<P, R>,
) =
    setRequestHandler(method) { params ->
        ACPJson.decodeFromJsonElement(
            method.responseSerializer,
            player.receive(
                method.methodName.name,
                ACPJson.encodeToJsonElement(method.requestSerializer, params),
            ),
        )
    }

fun <N : AcpNotification> Protocol.listen(player: Player, method: AcpNotificationMethod<N>) =
    setNotificationHandler(method) {
        player.push(
            Item(
                "notification",
                method.methodName.name,
                ACPJson.encodeToJsonElement(method.serializer, it),
            )
        )
    }

fun <N : AcpNotification> Protocol.tell(method: AcpNotificationMethod<N>, params: JsonElement) =
    sendNotification(method, ACPJson.decodeFromJsonElement(method.serializer, params))

class Tap(to: OutputStream, private val seen: (ByteArray) -> Unit) : FilterOutputStream(to) {
    @Volatile var lines = 0L
    @Volatile var bytes = 0L
    private val part = ByteArrayOutputStream()

    override fun write(data: ByteArray, from: Int, length: Int) {
        // First, as the peer may answer, and the script end, before a write returns.
        count(data, from, length)
        out.write(data, from, length)
    }

    override fun write(b: Int) = write(byteArrayOf(b.toByte()), 0, 1)

    @Synchronized
    fun count(data: ByteArray, from: Int, length: Int) {
        bytes += length
        for (i in from until from + length) {
            if (data[i] == '\n'.code.toByte()) {
                lines++
                seen(part.toByteArray())
                part.reset()
            } else part.write(data[i].toInt())
        }
    }
}

fun connect(
    scope: CoroutineScope,
    input: InputStream,
    output: OutputStream,
): Pair<Protocol, CompletableDeferred<Unit>> {
    val transport =
        StdioTransport(
            scope,
            Dispatchers.IO,
            input.asSource().buffered(),
            output.asSink().buffered(),
        )
    val closed = CompletableDeferred<Unit>()
    transport.onClose { closed.complete(Unit) }
    return Protocol(scope, transport) to closed
}
