package sandbox

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/pipelines"
)

// Home is what a program needs in a home of its own.
type Home struct {
	Program string   // names the home, together with the access level
	Keep    []string // patterns of path.Match: what a later call finds again besides caches
	Files   []*File
	// Gives says that other programs find a copy of the caches that are in it, see
	// furnish.
	Gives bool
}

// File is a file of the user's that a program finds in its home.
type File struct {
	From string // the user's file
	To   string // its path in the home
	// Shape, if not nil, gives what the program finds in its place; nil: the user has none.
	Shape func(data []byte) []byte
	// Renews, if not nil, reports whether the program has renewed the file, as a
	// login is: the user has it then as well.
	Renews func(before, after []byte) bool
	Data   []byte // as it was copied; nil if it was not
	Fresh  []byte // what the program made of it, if that is something else
}

// homesInUse counts the calls in each home: those at work at the same time share it, and it is made fresh for the first
// of them.
type homesInUse struct {
	sync.Mutex
	calls map[string]int
}

// enter says whether nobody else is in a home.
func (h *homesInUse) enter(name string) (alone bool) {
	if h == nil {
		return true
	}
	h.Lock()
	defer h.Unlock()
	if h.calls == nil {
		h.calls = map[string]int{}
	}
	h.calls[name]++
	return h.calls[name] == 1
}

// leave says whether nobody is in it any more.
func (h *homesInUse) leave(name string) (last bool) {
	if h == nil {
		return true
	}
	h.Lock()
	defer h.Unlock()
	h.calls[name]--
	return h.calls[name] == 0
}

// ownHome is the home of one program at one access level.
type ownHome struct {
	dir   string
	root  *os.Root // a program that had the home may have laid links in it
	files []*File
}

// environ points a program to its home, and to what it may use of the user's: installed programs, and Go modules. What
// the pipeline lets through stays.
func (h *ownHome) environ(env []string, user string) []string {
	env = process.SetVar(env, "HOME", h.dir)
	more := map[string]string{
		"GOFLAGS":                    "-modcacherw", // else nobody but root could clear the home
		"npm_config_update_notifier": "false",       // else npm asks its registry for its newest version
	}
	for name, dir := range tools() {
		if dir = filepath.Join(user, dir); exists(dir) {
			more[name] = dir
		}
	}
	if dir := moduleCache(user); exists(dir) {
		more["GOPROXY"] = "file://" + dir + ",https://proxy.golang.org,direct"
	}
	for name, value := range more {
		if process.Lookup(env, name) == "" {
			env = process.SetVar(env, name, value)
		}
	}
	const java = "JAVA_TOOL_OPTIONS"
	return process.SetVar(env, java, javaOptions(h.dir, process.Lookup(env, "TMPDIR"), process.Lookup(env, java)))
}

// javaOptions has programs in Java use a home and a folder for temporary files as others do:
// by itself Java asks who the user is, and finds neither. Options that are given win.
func javaOptions(home, temp, given string) string {
	var all []string
	for name, dir := range map[string]string{"user.home": home, "java.io.tmpdir": temp} {
		if option := "-D" + name + "=" + dir; dir != "" && strings.ContainsAny(dir, " \t\n") {
			all = append(all, `"`+option+`"`)
		} else if dir != "" {
			all = append(all, option)
		}
	}
	slices.Sort(all)
	return strings.TrimSpace(strings.Join(append(all, given), " "))
}

// home prepares the home of a program for a call. Its close has to be called.
func (s *Sandbox) home(ctx context.Context, what Home, access pipelines.Access) (*ownHome, error) {
	name := what.Program + "-" + string(access)
	alone := s.homes.enter(name)
	err := openFolders(s.State, filepath.Join(s.State, name))
	if what.Gives {
		what.Keep = append(slices.Clip(what.Keep), keptTools()...)
	}
	if err == nil && alone {
		err = renew(s.State, name, slices.Concat(what.Keep, caches()))
	}
	if err == nil && alone {
		err = furnish(ctx, s.State, name, what, access)
	}
	if err != nil {
		s.homes.leave(name)
		return nil, fmt.Errorf("making a fresh home for %s: %w", what.Program, err)
	}
	h := &ownHome{dir: filepath.Join(s.State, name), files: what.Files}
	if err = h.fill(); err != nil { // what is in the way was put there by the program: it starts anew
		h.close()
		if err = errors.Join(folders.RemoveAll(h.dir), furnish(ctx, s.State, name, what, access), h.fill()); err != nil {
			h.close()
			s.homes.leave(name)
			return nil, fmt.Errorf("making a home for %s: %w", what.Program, err)
		}
	}
	return h, nil
}

// MoveIn gives a call a home and a control group of its own. The function it
// returns is called after the call, and clears the home if the call has filled it.
func (s *Sandbox) MoveIn(ctx context.Context, c *Call, what Home) (leave func(full bool), err error) {
	h, err := s.home(ctx, what, c.Access)
	if err != nil {
		return nil, err
	}
	if what.Gives { // what lies beside it can be read only if it is there
		_ = h.root.MkdirAll(toolFolders()[0], 0o700)
	}
	c.Home, c.Env = h.dir, withTools(h.environ(c.Env, c.User), toolsOf(s.State, filepath.Base(h.dir), what, c.Access), what.Gives)
	var group *Group
	if os.Geteuid() == 0 || s.together.group {
		group, err = MakeGroup(s.Limits.Processes, c.Dir)
		if err != nil {
			group = nil // Held says so
		}
	}
	c.group, c.relay = group.File(), &relay{}
	return func(full bool) {
		c.relay.close()
		group.Remove()
		if what.Gives { // others find what is in its caches
			_ = os.WriteFile(filepath.Join(s.State, offered), []byte(filepath.Base(h.dir)+"\n"+rand.Text()), 0o600) // else they fetch it themselves
		}
		h.close() // first: a login renewed there is in no other place
		if last := s.homes.leave(filepath.Base(h.dir)); full && last {
			_ = folders.RemoveAll(h.dir) // what stays is not in the way of anybody else
		}
	}, nil
}

// EndLeftovers ends the processes of calls in a work tree that outlived their reprise, and says how many there were.
// Call it only while no other process can be at work there.
func EndLeftovers(tree string) int { return EndGroups(tree) + process.EndLeftovers(tree) }

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
	for _, f := range h.files {
		data, err := os.ReadFile(f.From)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if f.Shape != nil {
			data = f.Shape(data)
		}
		if now, err := folders.ReadFile(h.root, f.To, maxLogin); data != nil && err == nil && bytes.Equal(now, data) {
			f.Data = data
			continue // another call may be reading it
		}
		if err := h.root.RemoveAll(f.To); err != nil {
			return err
		}
		if data == nil {
			continue
		}
		if err := h.root.MkdirAll(filepath.Dir(f.To), 0o700); err != nil {
			return err
		}
		if err := h.root.WriteFile(f.To, data, 0o600); err != nil {
			return err
		}
		f.Data = data
	}
	return nil
}

// close gives a renewed login back to the user, unless it may be another one, or the user's own has changed as well.
func (h *ownHome) close() {
	if h.root == nil {
		return
	}
	for _, f := range h.files {
		if f.Renews == nil || f.Data == nil {
			continue
		}
		now, err := folders.ReadFile(h.root, f.To, maxLogin)
		if err != nil || bytes.Equal(now, f.Data) {
			continue
		}
		f.Fresh = now
		if !f.Renews(f.Data, now) {
			continue
		}
		if user, err := os.ReadFile(f.From); err == nil && bytes.Equal(user, f.Data) {
			replace(f.From, now)
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

// toolFolders are where programs are in a home that installs some, such as pip, pipx, go
// and cargo do. Beside them is what they need.
func toolFolders() []string { return []string{".local/bin", "go/bin", ".cargo/bin", ".dotnet/tools"} }

// keptTools is what a home that installs programs finds again of them.
func keptTools() []string { return []string{".local", "go/bin", ".cargo/bin", ".dotnet/tools"} }

// withTools puts the programs of a home behind all others of the PATH, in whose place none
// of them can come. All says that the home may get more of them meanwhile.
func withTools(env []string, home string, all bool) []string {
	dirs := filepath.SplitList(process.Lookup(env, "PATH"))
	for _, name := range toolFolders() {
		dir := filepath.Join(home, name)
		if _, err := os.Stat(dir); home != "" && (all || err == nil) {
			dirs = append(dirs, dir)
		}
	}
	return process.SetVar(env, "PATH", strings.Join(dirs, string(filepath.ListSeparator)))
}
