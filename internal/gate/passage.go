package gate

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// Call is what a passage has to know of a call of an agent.
type Call struct {
	Agent    string   // claude, codex, gemini, or the name of a program of the user's; "": a check, whose keys are its own
	Env      []string // of the program, with the keys in it
	Settings []byte   // of the user for the program: settings.json of Claude Code, config.toml of Codex
	Login    bool     // Codex has a login in a file
	Resumed  bool     // it goes on with the session of an earlier call

	Federation *Federation // makes the key of the program; nil: Env has it

	Turns   int               // limit; 0 means none
	USD     float64           // limit; 0 means none
	Network pipelines.Network // what it may reach besides its models

	Tools   []Server // servers of tools that it asks over HTTP
	NoShell bool     // it may not offer its model a shell

	Known *Known // what is known of the limits of services; nil: nothing

	Models []string // that may be asked, with any that are known to cost no more; none: all may
	Exact  bool     // nothing but Models may be asked
	// Price gives what a usage costs: of one request with so many tokens of input, as some
	// models cost more for long ones, or of any where prompt is 0.
	Price func(model string, used metadata.Usage, prompt int64) (usd float64, known bool)

	// Proxy gives the proxy of the user for an address, or nil, as net/http takes it.
	// If Proxy is nil, there is none.
	Proxy func(*url.URL) (*url.URL, error)
}

// Passage is the way of one call to its models, through a proxy. If there is no key to keep
// from the program and no host to open, it may have no proxy, and does nothing.
type Passage struct {
	Env []string // for the program: where the proxy is, and a placeholder for each key

	call    Call
	gate    *gate    // the proxy; nil: there is none
	carried []string // variables of proxies of the user that the proxy asks, because they take a password
	lost    []string // variables of those whose password the program would need, and does not get
	tell    chan process.Reaction

	hears []API // whose answers come through

	mu       sync.Mutex
	answered bool // a model has begun to answer
	full     int  // answers in a row that there is no room
	last     *Trouble
	newest   *Trouble // why the newest answer is none, whatever the program makes of that; nil: it is one
}

// Trouble is what a service has answered instead of a model.
type Trouble struct {
	Status     int           // of HTTP
	Said       string        // the answer
	RetryAfter time.Duration // as the service asked; 0 if it did not
	Ends       bool          // nothing good will come: the program is ended
}

// Patience is how long a wait may be that is not worth starting over for, where
// nothing has been done yet.
const Patience = 10 * time.Second

// How often in a row a service may have no room before the call is ended: few times
// where nothing has been done yet, and otherwise about as often as programs try again by
// themselves, as what was done would be lost.
const (
	fullAtFirst = 3
	fullLater   = 10
)

// respite is the least time after which a call is tried again whose service had no
// room all these times.
const respite = 30 * time.Second

// OpenPassage opens a gate for a call, which Close closes. The password of a proxy of the user stays outside.
func OpenPassage(c Call) (*Passage, error) {
	p := &Passage{call: c, tell: make(chan process.Reaction, 8), newest: &Trouble{}}
	p.Env, p.carried, p.lost = noPasswords(c.Env)
	switch {
	case c.Network.Closed: // it has no other way than the gate
		p.carried, p.lost = nil, nil
	case c.Proxy == nil:
		p.carried, p.lost = nil, append(p.carried, p.lost...)
	}
	providers, variables, err := c.providers()
	world := World{Open: !c.Network.Closed, All: len(p.carried) > 0, Allow: c.Network.Allow}
	if c.Network.Closed {
		world.Allow = append(slices.Clone(world.Allow), c.hosts()...)
	}
	// A gate that lets nothing through says at once what was asked for.
	if err != nil || len(providers)+len(c.Tools)+len(p.carried) == 0 && !c.Network.Closed {
		return p, err
	}
	p.gate, err = Open(Config{
		Providers: providers, Tools: c.Tools, NoShell: c.NoShell, Known: c.Known, World: world, Proxy: c.Proxy, OnEvent: p.hear,
		Limits: limits{Turns: c.Turns, USD: c.USD, Price: c.price, Model: c.mayAsk()},
	})
	if err == nil {
		p.point(providers, variables)
	}
	return p, err
}

// point has the program ask the gate.
func (p *Passage) point(providers []Provider, variables []string) {
	set := func(name, value string) { p.Env = process.SetVar(p.Env, name, value) }
	for _, name := range variables {
		set(name, p.gate.Placeholder())
	}
	for i, provider := range providers {
		address := p.gate.URL(provider.Name)
		p.hears = append(p.hears, provider.API)
		for _, s := range table().Services {
			if string(s.API) == provider.Name {
				for _, name := range s.Bases {
					set(name, address)
				}
			}
		}
		if f := p.call.Federation; f != nil && f.way.Name == provider.Name {
			set(f.way.Base, address)
			if f.way.Skip != "" {
				set(f.way.Skip, "1")
			}
		}
		if i == 0 {
			set("REPRISE_MODEL_URL", address)
		}
	}
	if len(providers) > 0 || p.call.Network.Closed {
		p.Env = slices.DeleteFunc(p.Env, func(kv string) bool {
			name, _, _ := strings.Cut(kv, "=")
			return name == customHeaders || name == federationRule || p.call.Federation != nil && name == p.call.Federation.way.Asks
		})
	}
	if p.call.Network.Closed {
		for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy", "YARN_HTTP_PROXY", "YARN_HTTPS_PROXY"} { // Yarn from version 2 on reads its own
			set(name, p.gate.proxyURL())
		}
		set("NO_PROXY", p.near())
		set("no_proxy", p.near())
		set("JAVA_TOOL_OPTIONS", strings.TrimSpace(process.Lookup(p.Env, "JAVA_TOOL_OPTIONS")+" "+properties(p.gate.port())))
		return
	}
	for _, name := range p.carried {
		set(name, p.gate.proxyURL())
	}
	for _, name := range []string{"NO_PROXY", "no_proxy"} { // a proxy of the user does not lead here
		if now := process.Lookup(p.Env, name); now != "*" {
			set(name, strings.TrimPrefix(now+",127.0.0.1,localhost", ","))
		}
	}
}

// near are the names of this machine that a program asks without the gate: not those of hosts that the gate lets
// through, as a network of its own has no other way to them.
func (p *Passage) near() string {
	return strings.Join(slices.DeleteFunc([]string{"127.0.0.1", "localhost", "::1"}, func(name string) bool {
		return slices.ContainsFunc(p.gate.world.rules, func(r rule) bool { return r.host == name })
	}), ",")
}

// properties lead Java programs through the gate, which do not know the variables. Maven
// heeds them from version 3.9 on only if it is told to, by another name in 4.
func properties(port uint16) string {
	var out []string
	for _, scheme := range []string{"http", "https"} {
		out = append(out, fmt.Sprintf("-D%s.proxyHost=127.0.0.1 -D%[1]s.proxyPort=%d", scheme, port))
	}
	return strings.Join(append(out, "-Daether.connector.http.useSystemProperties=true", "-Daether.transport.apache.useSystemProperties=true"), " ")
}

// Port is that of the gate on loopback; 0 if there is none.
func (p *Passage) Port() uint16 {
	if p.gate == nil {
		return 0
	}
	return p.gate.port()
}

// Server gives the address of a server of tools, and the key to show there.
func (p *Passage) Server(name string) (address, key string) {
	return p.gate.serverURL(name), p.gate.Placeholder()
}

// Tell says what to do with the program, while it works.
func (p *Passage) Tell() <-chan process.Reaction { return p.tell }

// Hears reports whether what models of a service answer comes through; "": of any.
func (p *Passage) Hears(api API) bool {
	return api == "" && len(p.hears) > 0 || slices.Contains(p.hears, api)
}

// Heard gives the moment at which the last piece of a model's answer came; the zero time if none has.
func (p *Passage) Heard() time.Time {
	if p.gate == nil {
		return time.Time{}
	}
	return p.gate.Heard()
}

// hear takes what the gate tells while the program works.
func (p *Passage) hear(e event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.Kind != limitEnded {
		p.newest = &e.Trouble
	}
	switch e.Kind {
	case answered:
		p.newest = nil
		p.answered, p.full = true, 0
		if p.last != nil && !p.last.Ends {
			p.last = nil // it got over it
		}
	case throttled, unknown:
		p.refused(e)
	case limitEnded:
		p.do(process.Done) // the program has a little time to say what it did
	}
}

// refused hears that a service does not answer. The lock is held.
func (p *Passage) refused(e event) {
	if p.last != nil && p.last.Ends {
		return
	}
	p.last = &e.Trouble
	if e.Kind == throttled {
		p.full++
		most := fullAtFirst
		if p.answered {
			most = fullLater
		}
		if p.full >= most {
			p.last.RetryAfter, p.last.Ends = max(e.RetryAfter, respite), true
		}
	}
	// Before anything was done nothing is lost, and somebody else may have room.
	if e.Kind == unknown || e.RetryAfter >= Patience && !p.answered {
		p.last.Ends = true
	}
	if p.last.Ends {
		p.do(process.GiveUp)
	}
}

func (p *Passage) do(r process.Reaction) {
	select {
	case p.tell <- r:
	default: // it has been told enough
	}
}

// Trouble gives what the service has answered last instead of a model, or nil if it
// has answered since.
func (p *Passage) Trouble() *Trouble {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

// Last gives why the newest answer of a model is no good one, whatever the program makes of that: one without a status
// if none was asked; nil if it is good.
func (p *Passage) Last() *Trouble {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.newest
}

// Close ends what is under way and gives what has come through. Closing it once more
// does no harm.
func (p *Passage) Close() Report {
	if p.gate == nil {
		return Report{}
	}
	return p.gate.Close()
}

// noPasswords gives an environment without passwords of proxies. Carried are the variables whose proxy a gate can ask
// in place of the program; lost, those of others.
func noPasswords(env []string) (out, carried, lost []string) {
	out = slices.Clone(env)
	strip := func(name string) (found, asked bool) {
		i := slices.IndexFunc(out, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
		if i < 0 {
			return false, false
		}
		value := out[i][len(name)+1:]
		at := strings.LastIndexByte(value, '@')
		if at < 0 {
			return false, false
		}
		scheme, _, ok := strings.Cut(value, "://")
		if ok {
			scheme += "://"
		} else {
			scheme = ""
		}
		bare := value[at+1:]
		out[i] = name + "=" + scheme + bare
		scheme = cmp.Or(scheme, "http://") // as programs take it
		u, err := url.Parse(scheme + bare)
		return true, err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
	}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY", "all_proxy"} {
		found, asked := strip(name)
		switch {
		case !found:
		case asked && (!strings.EqualFold(name, "ALL_PROXY") || len(carried) > 0):
			carried = append(carried, name)
		default:
			lost = append(lost, name)
		}
	}
	return out, carried, lost
}
