import libacp

observer = libacp.Observer()
observer.receive_data("client", b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}\n')
observer.receive_data("agent", b'{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}\nready!\n')
observer.receive_data("client", b'{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"work","mcpServers":[]}}\n')
for side, event in observer.events():
    match event:
        case libacp.Violation(rule=rule, pointer=pointer):
            print(side, rule, pointer or "-")
