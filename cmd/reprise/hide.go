package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/reprise-ci/reprise/git"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/secrets"
)

// secrets lists the values of this environment that must not be seen: those of
// variables whose names say so, and the passwords of proxies.
func (e environment) secrets() []secrets.Secret {
	var out []secrets.Secret
	for _, kv := range e.environ {
		name, value, _ := strings.Cut(kv, "=")
		if strings.HasSuffix(strings.ToUpper(name), "_PROXY") {
			if at, err := url.Parse(value); err == nil && at.User != nil {
				password, _ := at.User.Password() // "" is not looked for
				out = append(out, secrets.Secret{Name: name, Value: password})
			}
		}
		for _, end := range []string{"_KEY", "_TOKEN", "_SECRET", "_PASSWORD", "_PASSWD", "_PASS", "_PAT"} {
			if strings.HasSuffix("_"+name, end) {
				out = append(out, secrets.Secret{Name: name, Value: value})
				break
			}
		}
	}
	return out
}

// finder finds what must not be seen. It costs nothing before it is used.
func (e environment) finder() *secrets.Finder {
	if e.hide != nil {
		return e.hide
	}
	return secrets.New(e.secrets()...)
}

// tooShort says which secrets are not looked for, and why; "" if all are.
func (e environment) tooShort() string {
	names := secrets.Short(e.secrets())
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("%s: shorter than %d characters, so nothing keeps the value out of files, comments and the log; give it another name if it is no secret", strings.Join(names, ", "), secrets.MinLength)
}

// learn has the finder know what a pipeline lets its agents see besides: long
// values, as a short one or a path is likely to stand anywhere.
func (e environment) learn(plan *pipelines.Pipeline) {
	for _, a := range plan.Agents {
		for _, kv := range e.environ {
			name, value, _ := strings.Cut(kv, "=")
			if slices.Contains(a.Env, name) && len(value) >= 16 && !strings.ContainsAny(value, " \t\n") && !strings.HasPrefix(value, "/") {
				e.finder().Learn(secrets.Secret{Name: name, Value: value})
			}
		}
	}
}

// guard is what keeps secrets off a branch.
type guard struct {
	*secrets.Finder
	repo checkout
}

// maxLeaks is how many values, and how many shapes, are found in one file: each
// is looked for in the last commit, and an agent can write any number.
const maxLeaks = 20

// Leaks finds the secrets in a file, but for those that the last commit has.
// The first values and the first shapes are enough to refuse it.
func (g guard) Leaks(ctx context.Context, path string, data []byte) ([]phases.Leak, error) {
	hits, err := g.Find(data)
	if err != nil || len(hits) == 0 {
		return nil, err
	}
	before, err := g.repo.ReadFile(ctx, g.repo.Tip(), path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var out []phases.Leak
	had, found := map[string]bool{}, map[bool]int{}
	for _, h := range hits {
		if found[h.Known] == maxLeaks {
			continue
		}
		text := h.Value(data)
		was, asked := had[text]
		if !asked {
			if was, err = g.had(ctx, before, text); err != nil {
				return nil, err
			}
			had[text] = was
		}
		if !was {
			found[h.Known]++
			out = append(out, phases.Leak{Line: h.Line(data), Name: h.Name, Known: h.Known})
		}
	}
	return out, nil
}

// had reports whether the last commit has a text: in that file, or in any.
func (g guard) had(ctx context.Context, before []byte, text string) (bool, error) {
	if bytes.Contains(before, []byte(text)) {
		return true, nil
	}
	repo, ok := g.repo.(*git.Repo)
	if !ok || strings.Contains(text, "\x00") || strings.Trim(text, "\r\n") == "" {
		return false, nil
	}
	return repo.Holds(ctx, text)
}

// masking is a writer that masks what must not be seen, line by line. What has
// no end of line yet waits for it, or for Close.
type masking struct {
	mu   sync.Mutex
	w    io.Writer
	mask func(string) string
	line []byte
}

// maxLine is the longest line that is waited for, in bytes.
const maxLine = 1 << 20

// Write takes p, and writes the lines that are whole.
func (m *masking) Write(p []byte) (int, error) {
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
func (m *masking) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.pass(len(m.line))
}

// pass writes the first n bytes of what waits.
func (m *masking) pass(n int) error {
	if n == 0 {
		return nil
	}
	text := m.mask(string(m.line[:n]))
	m.line = append(m.line[:0], m.line[n:]...)
	_, err := io.WriteString(m.w, text)
	return err
}

// masked gives an environment whose output is masked, and what writes the rest
// of it. A terminal is left alone: what agents say is masked before, and a
// picture that is kept up to date has no lines.
func (e environment) masked() (environment, func()) {
	mask := e.finder().Mask
	out, err := &masking{w: e.stdout, mask: mask}, &masking{w: e.stderr, mask: mask}
	if !isTerminal(e.stdout) {
		e.stdout = out
	}
	if !isTerminal(e.stderr) {
		e.stderr = err
	}
	return e, func() {
		_ = out.Close() // as for every other line, nobody can be told
		_ = err.Close()
	}
}
