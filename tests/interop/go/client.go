// The client of the script on the Go SDK.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	acp "github.com/coder/acp-go-sdk"
)

type terminal struct {
	output bytes.Buffer
	limit  int
	done   chan struct{}
	code   int
	cmd    *exec.Cmd
}

// workspace is what the client really does for the agent.
type workspace struct {
	terminals map[string]*terminal
	started   int
}

func (w *workspace) perform(method string, value any) (any, error) {
	params := value.(object)
	text := func(name string) string { text, _ := params[name].(string); return text }
	switch method {
	case "fs/read_text_file":
		data, err := os.ReadFile(text("path"))
		if err != nil {
			return nil, err
		}
		lines := strings.SplitAfter(string(data), "\n")
		start, end := 0, len(lines)
		if params["line"] != nil {
			start = min(int(integer(params["line"]))-1, end)
		}
		if params["limit"] != nil {
			end = min(start+int(integer(params["limit"])), end)
		}
		return object{"content": strings.Join(lines[start:end], "")}, nil
	case "fs/write_text_file":
		return object{}, os.WriteFile(text("path"), []byte(text("content")), 0o644)
	case "session/request_permission":
		for _, option := range params["options"].([]any) {
			if option.(object)["kind"] == "allow_once" {
				return object{"outcome": object{"outcome": "selected", "optionId": option.(object)["optionId"]}}, nil
			}
		}
		return object{"outcome": object{"outcome": "cancelled"}}, nil
	case "terminal/create":
		var args []string
		if list, ok := params["args"].([]any); ok {
			for _, arg := range list {
				args = append(args, arg.(string))
			}
		}
		t := &terminal{cmd: exec.Command(text("command"), args...), done: make(chan struct{}), limit: 1 << 30}
		t.cmd.Dir, t.cmd.Env = text("cwd"), os.Environ()
		if list, ok := params["env"].([]any); ok {
			for _, one := range list {
				t.cmd.Env = append(t.cmd.Env, fmt.Sprintf("%s=%s", one.(object)["name"], one.(object)["value"]))
			}
		}
		if params["outputByteLimit"] != nil {
			t.limit = int(integer(params["outputByteLimit"]))
		}
		t.cmd.Stdout, t.cmd.Stderr = &t.output, &t.output
		if err := t.cmd.Start(); err != nil {
			return nil, err
		}
		go func() { _ = t.cmd.Wait(); t.code = t.cmd.ProcessState.ExitCode(); close(t.done) }()
		w.started++
		id := fmt.Sprintf("term-%d", w.started)
		w.terminals[id] = t
		return object{"terminalId": id}, nil
	}
	if strings.HasPrefix(method, "_") {
		return value, nil
	}
	t := w.terminals[text("terminalId")]
	if t == nil {
		return nil, errors.New("no such terminal")
	}
	switch method {
	case "terminal/wait_for_exit":
		<-t.done
		return object{"exitCode": number(int64(t.code))}, nil
	case "terminal/output":
		all := t.output.String()
		return object{"output": all[max(0, len(all)-t.limit):], "truncated": len(all) > t.limit,
			"exitStatus": object{"exitCode": number(int64(t.code))}}, nil
	case "terminal/release":
		_ = t.cmd.Process.Kill()
		delete(w.terminals, text("terminalId"))
		return object{}, nil
	}
	return nil, fmt.Errorf("%s is not in the script", method)
}

type client struct{ *player }

func (c client) ReadTextFile(_ context.Context, p acp.ReadTextFileRequest) (acp.ReadTextFileResponse, error) {
	return serve[acp.ReadTextFileResponse](c.player, "fs/read_text_file", p)
}
func (c client) WriteTextFile(_ context.Context, p acp.WriteTextFileRequest) (acp.WriteTextFileResponse, error) {
	return serve[acp.WriteTextFileResponse](c.player, "fs/write_text_file", p)
}
func (c client) RequestPermission(_ context.Context, p acp.RequestPermissionRequest) (acp.RequestPermissionResponse, error) {
	return serve[acp.RequestPermissionResponse](c.player, "session/request_permission", p)
}
func (c client) SessionUpdate(_ context.Context, p acp.SessionNotification) error {
	c.push(&item{kind: "notification", name: "session/update", params: plain(p)})
	return nil
}
func (c client) CreateTerminal(_ context.Context, p acp.CreateTerminalRequest) (acp.CreateTerminalResponse, error) {
	return serve[acp.CreateTerminalResponse](c.player, "terminal/create", p)
}
func (c client) KillTerminal(_ context.Context, p acp.KillTerminalRequest) (acp.KillTerminalResponse, error) {
	return serve[acp.KillTerminalResponse](c.player, "terminal/kill", p)
}
func (c client) TerminalOutput(_ context.Context, p acp.TerminalOutputRequest) (acp.TerminalOutputResponse, error) {
	return serve[acp.TerminalOutputResponse](c.player, "terminal/output", p)
}
func (c client) ReleaseTerminal(_ context.Context, p acp.ReleaseTerminalRequest) (acp.ReleaseTerminalResponse, error) {
	return serve[acp.ReleaseTerminalResponse](c.player, "terminal/release", p)
}
func (c client) WaitForTerminalExit(_ context.Context, p acp.WaitForTerminalExitRequest) (acp.WaitForTerminalExitResponse, error) {
	return serve[acp.WaitForTerminalExitResponse](c.player, "terminal/wait_for_exit", p)
}
func (c client) HandleExtensionMethod(_ context.Context, method string, params json.RawMessage) (any, error) {
	value, err := decode(params)
	if err != nil {
		return nil, err
	}
	return c.receive(method, value), nil
}

type tracer struct {
	mutex sync.Mutex
	file  *os.File
	start time.Time
	parts map[string][]byte
}

func (t *tracer) feed(direction string) func([]byte) {
	return func(data []byte) {
		if t.file == nil {
			return
		}
		t.mutex.Lock()
		defer t.mutex.Unlock()
		t.parts[direction] = append(t.parts[direction], data...)
		for {
			end := bytes.IndexByte(t.parts[direction], '\n')
			if end < 0 {
				return
			}
			ms := json.Number(fmt.Sprintf("%.3f", float64(time.Since(t.start).Microseconds())/1000))
			line := encode(object{"d": direction, "ms": ms, "s": string(t.parts[direction][:end])})
			t.file.Write(append(line, '\n'))
			t.parts[direction] = t.parts[direction][end+1:]
		}
	}
}

type reader struct {
	from io.Reader
	tap  *tap
}

func (r reader) Read(data []byte) (int, error) {
	n, err := r.from.Read(data)
	r.tap.Write(data[:n])
	return n, err
}

func runClient(scriptPath, work, cwd, trace string, argv []string) (summary object, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("%v", reason)
		}
	}()
	script, err := load(scriptPath)
	if err != nil {
		return nil, err
	}
	for name, rule := range script["files"].(object) {
		if err := os.WriteFile(filepath.Join(work, name), []byte(strings.Join(expand(rule), "")), 0o644); err != nil {
			return nil, err
		}
	}
	tracer := &tracer{start: time.Now(), parts: map[string][]byte{}}
	if trace != "" {
		if tracer.file, err = os.Create(trace); err != nil {
			return nil, err
		}
	}
	child := exec.Command(argv[0], argv[1:]...)
	child.Stderr = os.Stderr
	input, err := child.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := child.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := child.Start(); err != nil {
		return nil, err
	}
	defer child.Process.Kill()
	sent := &tap{to: input, seen: tracer.feed(">")}
	received := &tap{to: io.Discard, seen: tracer.feed("<")}

	p := newPlayer(script, "client")
	p.vars = map[string]string{"cwd": cwd, "work": work, "work_uri": pathToURI(work)}
	p.written = sent.lines.Load
	ws := &workspace{terminals: map[string]*terminal{}}
	p.perform = func(method string, params, _ any) (any, error) { return ws.perform(method, params) }
	conn := acp.NewClientSideConnection(client{p}, sent, reader{output, received})
	conn.SetLogger(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
	p.request = func(method string, params any) (any, error) {
		switch method {
		case "initialize":
			params.(object)["clientInfo"] = object{"name": "libacp-interop-go-client", "version": "0.1.0"}
			return call(params, conn.Initialize)
		case "session/new":
			return call(params, conn.NewSession)
		case "session/prompt":
			return call(params, conn.Prompt)
		}
		raw, err := conn.CallExtension(context.Background(), method, params)
		if err != nil {
			return nil, err
		}
		return decode(raw)
	}
	p.notify = func(_ string, params any) error {
		typed, err := convert[acp.CancelNotification](params)
		if err != nil {
			return err
		}
		return conn.Cancel(context.Background(), typed)
	}
	late := time.AfterFunc(time.Duration(integer(script["deadlineMs"]))*time.Millisecond, func() {
		fmt.Println(string(encode(object{"ok": false, "error": fmt.Sprint(p.at.Load(), ": no answer in time")})))
		child.Process.Kill()
		os.Exit(1)
	})
	defer late.Stop()
	p.run()
	input.Close()
	<-conn.Done()
	if err := child.Wait(); err != nil {
		return nil, fmt.Errorf("the agent ended with %w", err)
	}
	p.expectEmpty()
	if len(ws.terminals) > 0 {
		return nil, errors.New("a terminal was not released")
	}
	for name, expected := range script["written"].(object) {
		data, err := os.ReadFile(filepath.Join(work, name))
		if err != nil {
			return nil, err
		}
		sum := newChecksum()
		sum.add(string(data))
		found := object{"bytes": number(sum.bytes), "fnv1a32": sum.fnv1a32()}
		if text := difference(expected, found, "", false); text != "" {
			return nil, errors.New(name + text)
		}
	}
	lines := object{"fromClient": number(sent.lines.Load()), "fromAgent": number(received.lines.Load())}
	if text := difference(script["lines"], lines, "lines", false); text != "" {
		return nil, errors.New(text)
	}
	return object{"messages_sent": sent.lines.Load(), "messages_received": received.lines.Load(),
		"bytes_sent": sent.bytes.Load(), "bytes_received": received.bytes.Load(), "updates": p.updates}, nil
}
