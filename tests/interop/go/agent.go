// The agent of the script on the Go SDK: `agent --script script.json`.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"sync/atomic"

	acp "github.com/coder/acp-go-sdk"
)

type tap struct {
	to           io.Writer
	lines, bytes atomic.Int64
	seen         func([]byte)
}

// Write counts first: the peer may answer, and the script end, before a write returns.
func (t *tap) Write(data []byte) (int, error) {
	t.bytes.Add(int64(len(data)))
	if t.seen != nil {
		t.seen(data)
	}
	t.lines.Add(int64(bytes.Count(data, []byte{'\n'})))
	return t.to.Write(data)
}

// convert puts a value into the SDK's type for it, and back.
func convert[T any](value any) (T, error) {
	var typed T
	err := json.Unmarshal(encode(value), &typed)
	return typed, err
}

func plain(typed any) any {
	value, err := decode(encode(typed))
	if err != nil {
		panic(err)
	}
	return value
}

func serve[R any](p *player, method string, params any) (R, error) {
	return convert[R](p.receive(method, plain(params)))
}

func call[P, R any](params any, of func(context.Context, P) (R, error)) (any, error) {
	typed, err := convert[P](params)
	if err != nil {
		return nil, err
	}
	result, err := of(context.Background(), typed)
	if err != nil {
		return nil, err
	}
	return plain(result), nil
}

type agent struct{ *player }

func (a agent) Initialize(_ context.Context, p acp.InitializeRequest) (acp.InitializeResponse, error) {
	return serve[acp.InitializeResponse](a.player, "initialize", p)
}
func (a agent) NewSession(_ context.Context, p acp.NewSessionRequest) (acp.NewSessionResponse, error) {
	return serve[acp.NewSessionResponse](a.player, "session/new", p)
}
func (a agent) Prompt(_ context.Context, p acp.PromptRequest) (acp.PromptResponse, error) {
	return serve[acp.PromptResponse](a.player, "session/prompt", p)
}
func (a agent) Cancel(_ context.Context, p acp.CancelNotification) error {
	a.push(&item{kind: "notification", name: "session/cancel", params: plain(p)})
	return nil
}
func (a agent) HandleExtensionMethod(_ context.Context, method string, params json.RawMessage) (any, error) {
	value, err := decode(params)
	if err != nil {
		return nil, err
	}
	return a.receive(method, value), nil
}
func (agent) Authenticate(context.Context, acp.AuthenticateRequest) (acp.AuthenticateResponse, error) {
	return acp.AuthenticateResponse{}, acp.NewMethodNotFound("authenticate")
}
func (agent) Logout(context.Context, acp.LogoutRequest) (acp.LogoutResponse, error) {
	return acp.LogoutResponse{}, acp.NewMethodNotFound("logout")
}
func (agent) CloseSession(context.Context, acp.CloseSessionRequest) (acp.CloseSessionResponse, error) {
	return acp.CloseSessionResponse{}, acp.NewMethodNotFound("session/close")
}
func (agent) ListSessions(context.Context, acp.ListSessionsRequest) (acp.ListSessionsResponse, error) {
	return acp.ListSessionsResponse{}, acp.NewMethodNotFound("session/list")
}
func (agent) ResumeSession(context.Context, acp.ResumeSessionRequest) (acp.ResumeSessionResponse, error) {
	return acp.ResumeSessionResponse{}, acp.NewMethodNotFound("session/resume")
}
func (agent) SetSessionConfigOption(context.Context, acp.SetSessionConfigOptionRequest) (acp.SetSessionConfigOptionResponse, error) {
	return acp.SetSessionConfigOptionResponse{}, acp.NewMethodNotFound("session/set_config_option")
}
func (agent) SetSessionMode(context.Context, acp.SetSessionModeRequest) (acp.SetSessionModeResponse, error) {
	return acp.SetSessionModeResponse{}, acp.NewMethodNotFound("session/set_mode")
}

func runAgent(scriptPath string) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("%v", reason)
		}
	}()
	script, err := load(scriptPath)
	if err != nil {
		return err
	}
	p := newPlayer(script, "agent")
	out := &tap{to: os.Stdout}
	p.written = out.lines.Load
	conn := acp.NewAgentSideConnection(agent{p}, out, os.Stdin)
	conn.SetLogger(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
	p.request = func(method string, params any) (any, error) {
		switch method {
		case "fs/read_text_file":
			return call(params, conn.ReadTextFile)
		case "fs/write_text_file":
			return call(params, conn.WriteTextFile)
		case "session/request_permission":
			return call(params, conn.RequestPermission)
		case "terminal/create":
			return call(params, conn.CreateTerminal)
		case "terminal/wait_for_exit":
			return call(params, conn.WaitForTerminalExit)
		case "terminal/output":
			return call(params, conn.TerminalOutput)
		case "terminal/release":
			return call(params, conn.ReleaseTerminal)
		}
		raw, err := conn.CallExtension(context.Background(), method, params)
		if err != nil {
			return nil, err
		}
		return decode(raw)
	}
	p.notify = func(_ string, params any) error {
		typed, err := convert[acp.SessionNotification](params)
		if err != nil {
			return err
		}
		return conn.SessionUpdate(context.Background(), typed)
	}
	p.perform = func(method string, _, expected any) (any, error) {
		if method != "initialize" {
			return expected, nil
		}
		result := object{"agentInfo": object{"name": "libacp-interop-go-agent", "version": "0.1.0"}}
		for key, value := range expected.(object) {
			result[key] = value
		}
		return result, nil
	}
	p.bind = func(method string, params object) {
		switch {
		case method == "initialize":
			p.requireName("clientInfo", params["clientInfo"])
		case method == "session/new":
			p.vars["cwd"] = params["cwd"].(string)
		case method == "session/prompt" && p.vars["work"] == "":
			for _, block := range params["prompt"].([]any) {
				uri, _ := block.(object)["uri"].(string)
				if path, found := strings.CutSuffix(uri, "/notes.md"); found {
					p.vars["work_uri"] = strings.TrimPrefix(path, "file://")
					p.vars["work"], _ = url.PathUnescape(p.vars["work_uri"])
				}
			}
			if p.vars["work"] == "" {
				p.fail("%s: the prompt links to no notes.md", p.at.Load())
			}
		}
	}
	p.run()
	<-conn.Done()
	p.expectEmpty()
	return nil
}
