package sandbox

import (
	"bytes"
	"cmp"
	"context"
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
	// Clean says that the call runs nothing that an agent has written: what it leaves in the home of checks is there for
	// later ones, and for agents. What other calls leave in that home is gone after them.
	Clean bool
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
// of them. Its lock is held while that is done.
type homesInUse struct {
	sync.Mutex
	calls  map[string]int
	judged bool // code that an agent has written may have run in the home of checks since it was made fresh
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

// checks is the home of checks and of the commands of a setup. Others find programs there that these have installed.
const checks = "check-" + string(pipelines.AccessTree)

// CleanHome is the folder, in Checks, with the home of checks as code left it that no agent has written.
const CleanHome = "clean"

func (s *Sandbox) clean() string { return filepath.Join(cmp.Or(s.Base, s.Checks, s.State), CleanHome) }

// dir is where the home of that name lies.
func (s *Sandbox) dir(name string) string {
	if name == checks && s.Checks != "" {
		return filepath.Join(s.Checks, name)
	}
	return filepath.Join(s.State, name)
}

// Enter keeps the home of checks as it is between calls, until leave is called. It is fresh if nobody was in it.
func (s *Sandbox) Enter(ctx context.Context) (leave func(), err error) {
	err = s.enter(checks, func(dir string) error {
		s.homes.judged = false
		return s.renew(ctx, dir, mirror{})
	})
	return func() { s.leave(checks, func(string) {}) }, err
}

// enter counts a call in a home, and has it made fresh if nobody else is in it.
func (s *Sandbox) enter(name string, refresh func(dir string) error) error {
	s.homes.Lock()
	defer s.homes.Unlock()
	if s.homes.calls[name] == 0 {
		if err := refresh(s.dir(name)); err != nil {
			return fmt.Errorf("making a fresh home in %s: %w", name, err)
		}
	}
	s.homes.calls[name]++
	return nil
}

// leave counts a call out, and has something done if it was the last.
func (s *Sandbox) leave(name string, last func(dir string)) {
	s.homes.Lock()
	defer s.homes.Unlock()
	if s.homes.calls[name]--; s.homes.calls[name] == 0 {
		last(s.dir(name))
	}
}

// MoveIn gives a call a home and a control group of its own. The function it
// returns is called after the call, and clears the home if the call has filled it.
func (s *Sandbox) MoveIn(ctx context.Context, c *Call, what Home) (leave func(full bool), err error) {
	h, moveOut, err := s.home(ctx, what, c.Access)
	if err != nil {
		return nil, err
	}
	c.Home, c.Env = h.dir, h.environ(c.Env, c.User)
	if c.Access.Runs() {
		c.Env = withTools(c.Env, s.dir(checks), filepath.Base(h.dir) == checks)
	}
	var group *group
	if os.Geteuid() == 0 || s.together.group {
		group, err = makeGroup(s.Limits.Processes, c.Dir)
		if err != nil {
			group = nil // Held says so
		}
	}
	c.group, c.relay = group.file(), &relay{}
	return func(full bool) {
		c.relay.close()
		group.Remove()
		h.close() // first: a login renewed there is in no other place
		moveOut(full)
	}, nil
}

// home prepares the home of a program for a call, and that of checks, whose programs it may use. Its close and leave have
// to be called, in this order.
func (s *Sandbox) home(ctx context.Context, what Home, access pipelines.Access) (h *ownHome, leave func(full bool), err error) {
	leaveChecks := func() {}
	if access.Runs() { // it may use their programs
		if leaveChecks, err = s.Enter(ctx); err != nil {
			return nil, nil, err
		}
	}
	name := what.Program + "-" + string(access)
	m := mirror{takes: []string{""}, keeps: what.Keep, adds: access.Writes()}
	if access.Runs() {
		m.takes = caches()
	}
	if m.adds {
		m.keeps = append(caches(), m.keeps...)
	}
	if err := s.enter(name, func(dir string) error { return s.renew(ctx, dir, m) }); err != nil { // a check is in already
		leaveChecks()
		return nil, nil, err
	}
	s.homes.Lock()
	s.homes.judged = s.homes.judged || name == checks && !what.Clean
	s.homes.Unlock()
	leave = func(full bool) {
		leaveChecks()
		s.leave(name, func(dir string) {
			if full {
				_ = folders.RemoveAll(dir) // what stays is not in the way of anybody else
			} else if what.Clean && !s.homes.judged && ctx.Err() == nil {
				_ = s.renew(ctx, dir, mirror{marks: true}) // else others fetch it themselves
			}
		})
	}
	h = &ownHome{dir: s.dir(name), files: what.Files}
	if err = h.fill(); err != nil {
		h.close()
		leave(false)
		return nil, nil, fmt.Errorf("making a home for %s: %w", what.Program, err)
	}
	return h, leave, nil
}

// EndLeftovers ends the processes of calls in a work tree that outlived their reprise, and says how many there were.
// Call it only while no other process can be at work there.
func EndLeftovers(tree string) int { return endGroups(tree) + process.EndLeftovers(tree) }

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
			_ = folders.PutPrivate(f.From, now) // else the user keeps the old one
		}
	}
	_ = h.root.Close() // everything is written
}

// maxLogin is more than a login or settings have, in bytes.
const maxLogin = 1 << 20

// toolFolders are where programs are in the home of checks that a setup has installed, such as pip, pipx, go
// and cargo do. Beside them is what they need.
func toolFolders() []string { return []string{".local/bin", "go/bin", ".cargo/bin", ".dotnet/tools"} }

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
