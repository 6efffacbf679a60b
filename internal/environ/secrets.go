package environ

import (
	"bytes"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/reprise-ci/reprise/internal/secrets"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/pipelines"
)

// Secrets lists the values of this environment that must not be seen: those of variables that were handed over as
// secrets, or whose names or values say so, the passwords in addresses, and what opens a collector of traces.
func (e Env) Secrets() []secrets.Secret {
	out := slices.Clone(e.Handed)
	for _, kv := range e.Environ {
		name, value, _ := strings.Cut(kv, "=")
		collector := strings.HasPrefix(name, "OTEL_EXPORTER_OTLP_")
		address, proxy := value, strings.HasSuffix(strings.ToUpper(name), "_PROXY")
		if proxy && !strings.Contains(address, "://") {
			address = "http://" + address // as programs take it
		}
		if at, err := url.Parse(address); err == nil && at.User != nil {
			password, _ := at.User.Password() // "" is not looked for
			// What is next to a job, such as postgres:postgres@localhost, has a password that is a word.
			if proxy || collector || len(password) >= 12 && strings.Contains(at.Hostname(), ".") && password != at.User.Username() {
				out = append(out, secrets.Secret{Name: name, Value: password})
			}
		}
		if collector && strings.HasSuffix(name, "_HEADERS") {
			for header := range strings.SplitSeq(value, ",") {
				_, key, _ := strings.Cut(header, "=")
				key = strings.TrimSpace(key)
				sent, err := url.PathUnescape(key)
				if err != nil {
					sent = key
				}
				_, alone, _ := strings.Cut(sent, " ") // behind a word such as Bearer
				for _, s := range slices.Compact([]string{key, sent, alone}) {
					if len(s) >= secrets.MinLength { // others are names and numbers
						out = append(out, secrets.Secret{Name: name, Value: s})
					}
				}
			}
		}
		if secretName().MatchString(name) && !(pathName().MatchString(name) && strings.HasPrefix(value, "/")) || random(name, value) {
			out = append(out, secrets.Secret{Name: name, Value: value})
		}
	}
	return out
}

// secretName matches names of variables whose values are secret. Those that pathName matches often have a file instead.
var (
	secretName = text.Pattern(`(?i)(((^|[_-]|API)KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)|(^|_)(PASS|PAT|PWD))$`)
	pathName   = text.Pattern(`(?i)(CREDENTIALS?|PWD)$`)
)

// random reports whether a value is one that nobody has chosen, whatever it is called: letters of both kinds and
// digits, which change almost as often as by chance. Digests and numbers of commits have only small letters.
func random(name, value string) bool {
	if len(value) < 24 || strings.HasPrefix(value, "/") || strings.HasPrefix(name, "GITHUB_") || strings.HasPrefix(name, "npm_") {
		return false
	}
	kind := func(c byte) int {
		switch {
		case 'a' <= c && c <= 'z':
			return 1
		case 'A' <= c && c <= 'Z':
			return 2
		case '0' <= c && c <= '9':
			return 3
		}
		return 0
	}
	var of [4]int
	changes := 0
	for i := range len(value) {
		of[kind(value[i])]++
		if i > 0 && kind(value[i]) != kind(value[i-1]) {
			changes++
		}
	}
	return of[0]*10 <= len(value) && min(of[1], of[2], of[3]) > 0 && changes*20 >= len(value)*9
}

// Finder finds what must not be seen. It costs nothing before it is used.
func (e Env) Finder() *secrets.Finder {
	if e.SecretFinder != nil {
		return e.SecretFinder
	}
	return secrets.New(e.Secrets()...)
}

// TooShort says which secrets are not looked for, and why; "" if all are.
func (e Env) TooShort() string {
	names := secrets.Short(e.Secrets())
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("%s: shorter than %d characters, so nothing keeps the value out of files, comments and the log; give it another name if it is no secret", strings.Join(names, ", "), secrets.MinLength)
}

// Learn makes the finder look for the values of further variables that a pipeline passes to its agents, if they are
// long.
func (e Env) Learn(plan *pipelines.Pipeline) {
	for _, a := range plan.Agents {
		for _, kv := range e.Environ {
			name, value, _ := strings.Cut(kv, "=")
			if (slices.Contains(a.Env, name) || slices.Contains(a.Variables(), name)) && len(value) >= 16 && !strings.ContainsAny(value, " \t\n") && !strings.HasPrefix(value, "/") {
				e.Finder().Learn(secrets.Secret{Name: name, Value: value})
			}
		}
	}
}

// maskingWriter is a writer that masks what must not be seen, line by line. What has
// no end of line yet waits for it, or for Close.
type maskingWriter struct {
	mu   sync.Mutex
	W    io.Writer
	Mask func(string) string
	line []byte
}

// maxLine is the longest line that is waited for, in bytes.
const maxLine = 1 << 20

// Write takes p, and writes the lines that are whole.
func (m *maskingWriter) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.line = append(m.line, p...)
	end := bytes.LastIndexByte(m.line, '\n') + 1
	if end == 0 && len(m.line) > maxLine {
		end = len(m.line)
	}
	if err := m.pass(end); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close writes what is left. It does not close the writer behind it.
func (m *maskingWriter) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.pass(len(m.line))
}

// pass writes the first n bytes of what waits.
func (m *maskingWriter) pass(n int) error {
	if n == 0 {
		return nil
	}
	text := m.Mask(string(m.line[:n]))
	m.line = append(m.line[:0], m.line[n:]...)
	_, err := io.WriteString(m.W, text)
	return err
}

// Masked gives an environment whose output is masked, unless it is a terminal, and what writes the rest of it.
func (e Env) Masked() (Env, func()) {
	mask := e.Finder().Mask
	out, err := &maskingWriter{W: e.Stdout, Mask: mask}, &maskingWriter{W: e.Stderr, Mask: mask}
	if !IsTerminal(e.Stdout) {
		e.Stdout = out
	}
	if !IsTerminal(e.Stderr) {
		e.Stderr = err
	}
	return e, func() {
		_ = out.Close() // as for every other line, nobody can be told
		_ = err.Close()
	}
}
