package agents

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/pipelines"
)

// login is a file of the user's that a program needs in its own home.
type login struct {
	from   string // the user's file
	to     string // its path in the home
	renew  bool   // the program renews it, and the user has it then as well
	secret bool   // it is a login, and no settings
	data   []byte // as it was copied; nil if it was not
	fresh  []byte // what the program made of it, if that is another login
}

// logins lists the files of an agent: its login, and the settings that decide
// how it reaches its service.
func logins(agent, home string, env []string) []login {
	var out []login
	add := func(from, to, renewed string, others ...string) {
		if renewed != "" {
			others = append(others, renewed)
		}
		for _, name := range others {
			isLogin := name == renewed || name == "credentials" || name == "application_default_credentials.json"
			out = append(out, login{from: filepath.Join(from, name), to: filepath.Join(to, name), renew: name == renewed, secret: isLogin})
		}
	}
	either := func(name, other string) string {
		if v := lookup(env, name); v != "" {
			return v
		}
		return filepath.Join(home, other)
	}
	switch agent {
	case "claude":
		add(either("CLAUDE_CONFIG_DIR", ".claude"), ".claude", ".credentials.json", "settings.json", "CLAUDE.md")
		if lookup(env, "CLAUDE_CODE_USE_BEDROCK") != "" {
			add(filepath.Join(home, ".aws"), ".aws", "", "config", "credentials")
		}
		if lookup(env, "CLAUDE_CODE_USE_VERTEX") != "" {
			add(filepath.Join(home, ".config/gcloud"), ".config/gcloud", "", "application_default_credentials.json")
		}
	case "codex":
		add(either("CODEX_HOME", ".codex"), ".codex", "auth.json", "config.toml", "AGENTS.md")
	case "gemini":
		add(filepath.Join(either("GEMINI_CLI_HOME", ""), ".gemini"), ".gemini", "oauth_creds.json", "settings.json", "google_accounts.json")
	}
	return out
}

// ownHome is the home of one program at one access level.
type ownHome struct {
	dir   string
	root  *os.Root // a program that had the home may have laid links in it
	files []login
}

// environ points a program to its home, and to what it may use of the user's:
// programs installed in the user's home, and Go modules already downloaded.
// What the pipeline lets through for the agent stays as it is.
func (h *ownHome) environ(env []string, user string) []string {
	for _, name := range []string{"CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"} {
		env = slices.DeleteFunc(env, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
	}
	env = setVar(env, "HOME", h.dir)
	more := map[string]string{"GOFLAGS": "-modcacherw"} // else nobody but root could clear the home
	for name, dir := range tools() {
		if dir = filepath.Join(user, dir); exists(dir) {
			more[name] = dir
		}
	}
	if dir := moduleCache(user); exists(dir) {
		more["GOPROXY"] = "file://" + dir + ",https://proxy.golang.org,direct"
	}
	for name, value := range more {
		if lookup(env, name) == "" {
			env = setVar(env, name, value)
		}
	}
	return env
}

// tools lists where programs that install programs keep them, below the user's
// home, and the variables that say so.
func tools() map[string]string {
	return map[string]string{
		"RUSTUP_HOME": ".rustup", "PYENV_ROOT": ".pyenv", "RBENV_ROOT": ".rbenv", "NVM_DIR": ".nvm",
		"VOLTA_HOME": ".volta", "ASDF_DATA_DIR": ".asdf", "MISE_DATA_DIR": ".local/share/mise",
	}
}

// moduleCache is where Go keeps the modules it has downloaded.
func moduleCache(user string) string { return filepath.Join(user, "go/pkg/mod/cache/download") }

// checkHome begins the name of the home of checks.
const checkHome = "check"

// home prepares the home of a program for a call. Its close has to be called.
func (s Sandbox) home(agent string, access pipelines.Access, files []login) (*ownHome, error) {
	name := agent + "-" + string(access)
	err := openFolders(s.State, filepath.Join(s.State, name))
	if err == nil {
		err = renew(s.State, name, slices.Concat(sessions(agent), caches()))
	}
	if err != nil {
		return nil, fmt.Errorf("making a fresh home for %s: %w", agent, err)
	}
	h := &ownHome{dir: filepath.Join(s.State, name), files: files}
	if err = h.fill(); err != nil { // what is in the way was put there by the program: it starts anew
		h.close()
		if err = errors.Join(folders.RemoveAll(h.dir), h.fill()); err != nil {
			h.close()
			return nil, fmt.Errorf("making a home for %s: %w", agent, err)
		}
	}
	return h, nil
}

// moveIn gives a call a home and a control group of its own, if there is a
// sandbox. The function it returns is called after the call, and clears the home
// if the call has filled it.
func (o Options) moveIn(c *Call, agent string) (leave func(full bool), err error) {
	files := logins(agent, c.User, o.Environ)
	if o.box == nil {
		o.learn(agent, files)
		return func(bool) { o.learn(agent, files) }, nil
	}
	h, err := o.box.home(agent, c.Task.Access, files)
	if err != nil {
		return nil, err
	}
	o.learn(agent, h.files)
	c.Home, c.Env = h.dir, h.environ(c.Env, c.User)
	group := o.box.group()
	c.group = group.path()
	return func(full bool) {
		group.remove()
		h.close() // first: a login renewed there is in no other place
		o.learn(agent, h.files)
		if full {
			_ = folders.RemoveAll(h.dir) // what stays is not in the way of anybody else
		}
	}, nil
}

// learn tells what secrets are in logins and settings: as they were copied, or
// as the user has them.
func (o Options) learn(agent string, files []login) {
	if o.Learn == nil {
		return
	}
	var found []string
	for _, f := range files {
		for _, data := range [][]byte{f.data, f.fresh} {
			found = append(found, secretsIn(f, data)...)
		}
		if f.data == nil {
			data, _ := os.ReadFile(f.from) // the user has none, or the program cannot read it either
			found = append(found, secretsIn(f, data)...)
		}
	}
	if len(found) > 0 {
		o.Learn(agent, found)
	}
}

// openFolders makes folders, outermost first, and opens those that a program
// has closed.
func openFolders(dirs ...string) error {
	for _, dir := range dirs {
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.Chmod(dir, 0o700)); err != nil {
			return err
		}
	}
	return nil
}

// fill makes the folder and copies the logins in. What the user does not have
// does not stay, whoever put it there.
func (h *ownHome) fill() (err error) {
	if err := openFolders(filepath.Dir(h.dir), h.dir); err != nil {
		return err
	}
	if h.root, err = os.OpenRoot(h.dir); err != nil {
		return err
	}
	for i, f := range h.files {
		data, err := os.ReadFile(f.from)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if now, err := folders.ReadFile(h.root, f.to, maxLogin); data != nil && err == nil && bytes.Equal(now, data) {
			h.files[i].data = data
			continue // another call may be reading it
		}
		if err := h.root.RemoveAll(f.to); err != nil {
			return err
		}
		if data == nil {
			continue
		}
		if err := h.root.MkdirAll(filepath.Dir(f.to), 0o700); err != nil {
			return err
		}
		if err := h.root.WriteFile(f.to, data, 0o600); err != nil {
			return err
		}
		h.files[i].data = data
	}
	return nil
}

// close gives a renewed login back to the user, unless it may be another one, or
// the user's own has changed as well. One that cannot be written back is renewed again next time.
func (h *ownHome) close() {
	if h.root == nil {
		return
	}
	for i, f := range h.files {
		if !f.renew || f.data == nil {
			continue
		}
		now, err := folders.ReadFile(h.root, f.to, maxLogin)
		if err != nil || bytes.Equal(now, f.data) {
			continue
		}
		h.files[i].fresh = now
		if !renewals()[filepath.Base(f.to)].renews(f.data, now) {
			continue
		}
		if user, err := os.ReadFile(f.from); err == nil && bytes.Equal(user, f.data) {
			replace(f.from, now)
		}
	}
	_ = h.root.Close() // everything is written
}

// maxLogin is more than a login or settings have, in bytes.
const maxLogin = 1 << 20

// replace puts a file in the place of another, whole or not at all.
func replace(file string, data []byte) {
	file, err := filepath.EvalSymlinks(file)
	if err != nil {
		return
	}
	temp, err := os.CreateTemp(filepath.Dir(file), ".reprise-*") // only its owner can read it
	if err != nil {
		return
	}
	_, err = temp.Write(data)
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), file)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
	}
}
