// Plays one role of the script: sends its steps, waits for the other role's and compares them.
package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

type item struct {
	kind, name string
	params     any
	err        error
	reply      chan any
}

type open struct {
	at      string
	item    *item
	request object
}

// player keeps notifications apart from the rest: the SDK handles them one after another, each request in a goroutine
// of its own, and promises no order between the two.
type player struct {
	script   object
	role     string
	vars     map[string]string
	updates  int64
	messages *checksum
	at       atomic.Value
	mutex    sync.Mutex
	changed  *sync.Cond
	queues   map[bool][]*item
	opened   map[string]*open

	request func(method string, params any) (any, error)
	notify  func(method string, params any) error
	perform func(method string, params, expected any) (any, error)
	bind    func(method string, params object)
	written func() int64
}

func newPlayer(script object, role string) *player {
	p := &player{script: script, role: role, vars: map[string]string{}, messages: newChecksum()}
	p.at.Store("start")
	p.changed = sync.NewCond(&p.mutex)
	p.queues = map[bool][]*item{}
	p.opened = map[string]*open{}
	return p
}

func (p *player) push(one *item) {
	p.mutex.Lock()
	queue := one.kind == "notification"
	p.queues[queue] = append(p.queues[queue], one)
	p.changed.Broadcast()
	p.mutex.Unlock()
}

func (p *player) receive(method string, params any) any {
	one := &item{kind: "request", name: method, params: params, reply: make(chan any, 1)}
	p.push(one)
	return <-one.reply
}

func (p *player) fail(format string, args ...any) { panic(fmt.Errorf(format, args...)) }

func (p *player) take(kind, name string) *item {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	queue := kind == "notification"
	for len(p.queues[queue]) == 0 {
		p.changed.Wait()
	}
	one := p.queues[queue][0]
	p.queues[queue] = p.queues[queue][1:]
	if one.kind != kind || one.name != name {
		p.fail("%s: expected %s %s, got %s %s", p.at.Load(), kind, name, one.kind, one.name)
	}
	return one
}

func (p *player) expectEmpty() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for _, queue := range p.queues {
		for _, one := range queue {
			p.fail("%s: unexpected %s %s", p.at.Load(), one.kind, one.name)
		}
	}
}

func (p *player) check(expected, actual any, name string) {
	if text := difference(expected, actual, "", strings.HasPrefix(name, "_")); text != "" {
		p.fail("%s%s", p.at.Load(), text)
	}
}

func (p *player) run() {
	p.play(p.script["steps"].([]any), "/steps")
	p.at.Store("end")
	p.expectEmpty()
	totals := object{"updates": number(p.updates), "messageBytes": number(p.messages.bytes), "messageFnv1a32": p.messages.fnv1a32()}
	p.check(p.script["totals"], totals, "")
}

func number(value int64) json.Number { return json.Number(fmt.Sprint(value)) }

func (p *player) play(steps []any, path string) {
	for i, value := range steps {
		step := value.(object)
		at := fmt.Sprintf("%s/%d", path, i)
		p.at.Store(at)
		switch {
		case step["chunks"] != nil:
			p.chunks(step)
		case step["notify"] != nil:
			p.tell(step["by"].(string), step["notify"].(string), step["params"])
		case step["answer"] != nil:
			p.answer(step)
		default:
			p.ask(step, at)
		}
	}
}

func (p *player) chunks(step object) {
	sum := newChecksum()
	sessionID := p.script["steps"].([]any)[1].(object)["result"].(object)["sessionId"]
	count := int64(0)
	for _, rule := range step["chunks"].([]any) {
		for _, text := range expand(rule) {
			update := object{"sessionUpdate": "agent_message_chunk", "content": object{"type": "text", "text": text}}
			params := p.tell(step["by"].(string), "session/update", object{"sessionId": sessionID, "update": update}).(object)
			got := params["update"].(object)["content"].(object)["text"].(string)
			sum.add(got)
			p.messages.add(got)
			count++
		}
	}
	p.check(object{"count": step["count"], "bytes": step["bytes"], "fnv1a32": step["fnv1a32"]},
		object{"count": number(count), "bytes": number(sum.bytes), "fnv1a32": sum.fnv1a32()}, "")
}

func (p *player) tell(by, method string, template any) any {
	if method == "session/update" {
		p.updates++
	}
	params := fill(template, p.vars)
	if by == p.role {
		if err := p.notify(method, params); err != nil {
			p.fail("%s: %w", p.at.Load(), err)
		}
		return params
	}
	one := p.take("notification", method)
	p.check(params, one.params, method)
	return one.params
}

func (p *player) answer(step object) {
	was := p.opened[step["answer"].(string)]
	if step["by"] == p.role {
		was.item.reply <- was.request["result"]
	} else {
		p.result(was.request, was.at)
	}
}

func (p *player) ask(step object, at string) {
	method := step["request"].(string)
	if step["by"] == p.role {
		before := p.written()
		go func() {
			value, err := p.request(method, fill(step["params"], p.vars))
			p.push(&item{kind: "result", name: at, params: value, err: err})
		}()
		// The SDK's call ends with the result; what comes next must not be sent before the request is.
		for p.written() == before {
			time.Sleep(50 * time.Microsecond)
		}
		if name, ok := step["open"].(string); ok {
			p.opened[name] = &open{at: at, request: step}
			return
		}
		p.during(step, at)
		p.result(step, at)
		return
	}
	one := p.take("request", method)
	params, _ := one.params.(object)
	if p.bind != nil {
		p.bind(method, params)
	}
	p.check(fill(step["params"], p.vars), one.params, method)
	if name, ok := step["open"].(string); ok {
		p.opened[name] = &open{at: at, item: one, request: step}
		return
	}
	p.during(step, at)
	result, err := p.perform(method, one.params, step["result"])
	if err != nil {
		p.fail("%s: %w", at, err)
	}
	p.check(step["result"], result, method)
	one.reply <- result
}

func (p *player) during(step object, at string) {
	if steps, ok := step["during"].([]any); ok {
		p.play(steps, at+"/during")
	}
	p.at.Store(at)
}

func (p *player) result(step object, at string) {
	one := p.take("result", at)
	if one.err != nil {
		p.fail("%s: %s failed: %w", at, step["request"], one.err)
	}
	if step["request"] == "initialize" {
		p.requireName("agentInfo", one.params.(object)["agentInfo"])
	}
	p.check(step["result"], one.params, step["request"].(string))
}

func (p *player) requireName(member string, info any) {
	of, _ := info.(object)
	if of["name"] == nil || of["name"] == "" || of["version"] == nil || of["version"] == "" {
		p.fail("%s: %s lacks a name or a version", p.at.Load(), member)
	}
}
