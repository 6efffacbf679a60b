package sandbox

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/reprise-ci/reprise/internal/process"
)

// system lists what every program may read: the system itself, and no folder
// of a person or a service.
func system() []string {
	return []string{
		"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/etc", "/nix", "/gnu", "/snap", "/proc", "/sys",
		// Links from /etc lead here.
		"/etc/resolv.conf", "/etc/localtime", "/etc/ssl/certs/ca-certificates.crt", "/var/lib/ca-certificates", "/run/current-system",
	}
}

// devices lists those that hold nobody's data. A disk is none of them, and no
// terminal: who may open /dev/pts reads what the user types elsewhere.
func devices() []string {
	return []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"}
}

// memory is where programs share memory by files.
const memory = "/dev/shm"

// named lists the files that variables of a program point to.
func named(env []string) (files []string) {
	for _, name := range []string{"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GOOGLE_APPLICATION_CREDENTIALS"} {
		files = append(files, process.Lookup(env, name))
	}
	return files
}

// elsewhere lists the folders of what installs programs where a machine does not have
// them at home, as variables of a program say.
func elsewhere(env []string, user string) (out []string) {
	for name := range tools() {
		dir := process.Lookup(env, name)
		if real, err := filepath.EvalSymlinks(dir); err == nil && filepath.IsAbs(dir) && !mixed(real, user) {
			out = append(out, dir)
		}
	}
	return out
}

// shared lists what programs may use of the user's home.
func shared(user string) []string {
	if user == "" {
		return nil
	}
	out := []string{moduleCache(user)}
	for _, dir := range tools() {
		out = append(out, filepath.Join(user, dir))
	}
	for _, dir := range []string{"claude", "fnm", "uv", "pnpm"} { // what links in ~/.local/bin lead to
		out = append(out, filepath.Join(user, ".local/share", dir))
	}
	return out
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

// installed lists where the program of a call and those in its PATH are.
func installed(program, user string, env []string) (out []string) {
	home, err := filepath.EvalSymlinks(user)
	if err != nil {
		home = user
	}
	for _, file := range append([]string{program}, resolved([]string{program})...) {
		out = append(out, file)
		out = append(out, installation(filepath.Dir(file), home)...)
		if interpreter := shebang(file); interpreter != "" {
			out = append(out, installation(filepath.Dir(interpreter), home)...)
		}
	}
	for _, dir := range filepath.SplitList(process.Lookup(env, "PATH")) {
		out = append(out, installation(dir, home)...)
	}
	return out
}

// shebang gives the interpreter that a script names by its path.
func shebang(file string) string {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0) // an agent may have put a pipe there
	if err != nil {
		return ""
	}
	defer f.Close() // opened for reading
	line, _ := bufio.NewReader(io.LimitReader(f, 256)).ReadString('\n')
	words := strings.Fields(strings.TrimPrefix(line, "#!"))
	if !strings.HasPrefix(line, "#!") || len(words) == 0 || !filepath.IsAbs(words[0]) {
		return ""
	}
	return words[0]
}

// installation gives what the programs of a folder need to read: it, and the folders of installations beside it; less
// where other things may have those names.
func installation(dir, home string) []string {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil || !filepath.IsAbs(dir) || mixed(dir, home) {
		return nil
	}
	if before, _, ok := strings.Cut(dir+"/", "/node_modules/"); ok {
		return []string{before + "/node_modules"}
	}
	if !slices.Contains([]string{"bin", "sbin", "shims"}, filepath.Base(dir)) {
		return []string{dir}
	}
	prefix, with := filepath.Dir(dir), []string{"lib"}
	if !mixed(prefix, home) {
		with = []string{
			"lib", "lib64", "libexec", "include", "share", "opt", "Cellar", "pyvenv.cfg",
			"pkg", "src", "go.env", "VERSION", // Go
			"conf", "jmods", "release", // Java
		}
	}
	if filepath.Base(dir) == "shims" && (exists(filepath.Join(prefix, "libexec/pyenv")) || exists(filepath.Join(prefix, "libexec/rbenv"))) {
		// A shim asks the program that made it which version to start. People get
		// that program by git clone, so that a .git beside it says nothing.
		with = append(with, "bin", "libexec", "version", "versions", "plugins", "pyenv.d", "rbenv.d")
	}
	out := []string{dir}
	for _, name := range with {
		out = append(out, filepath.Join(prefix, name))
	}
	return out
}

// mixed says whether a folder holds more than programs.
func mixed(dir, home string) bool {
	if home == "" || dir == "/" || within(home, dir) || exists(filepath.Join(dir, ".git")) {
		return true
	}
	for _, name := range []string{".local", ".cargo", ".config", ".local/share", "go"} { // logins, keys and other work are there, too
		if dir == filepath.Join(home, name) {
			return true
		}
	}
	return slices.Contains([]string{"/tmp", "/var", "/var/tmp", "/run", "/home", "/root", "/mnt", "/srv", "/dev"}, dir)
}

// borrowed gives folders of git objects and those that they borrow from.
func borrowed(objects []string) []string {
	out := slices.Clone(objects)
	for i := 0; i < len(out) && i < 20; i++ { // they may borrow in a circle
		list, _ := os.ReadFile(filepath.Join(out[i], "info", "alternates")) // most have none
		for line := range strings.Lines(string(list)) {
			line = strings.TrimSpace(line)
			if line == "" || line[0] == '#' {
				continue
			}
			if !filepath.IsAbs(line) {
				line = filepath.Join(out[i], line)
			}
			out = append(out, line)
		}
	}
	return out
}

// around gives what a folder holds beside the hidden ones, which may lie
// anywhere below it. A folder that lies below a hidden one is itself.
func around(dir string, hidden []string) (out []string) {
	if slices.Contains(hidden, dir) {
		return nil
	}
	if !slices.ContainsFunc(hidden, func(h string) bool { return within(h, dir) }) {
		return []string{dir}
	}
	entries, _ := os.ReadDir(dir) // what cannot be read is left out
	for _, e := range entries {
		out = append(out, around(filepath.Join(dir, e.Name()), hidden)...)
	}
	return out
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// within says whether a path is a folder or lies below it.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// artifactFolder gives the folder of the artifact, made if missing. A link on
// the way, which an agent may have laid, would open what it leads to.
func artifactFolder(tree, artifact string) (string, error) {
	dir := filepath.Dir(artifact)
	rel, err := filepath.Rel(tree, dir)
	if err != nil || !filepath.IsLocal(rel) || rel == "." {
		return "", fmt.Errorf("the artifact %s is in no folder of the work tree %s", artifact, tree)
	}
	root, err := os.OpenRoot(tree)
	if err != nil {
		return "", err
	}
	defer root.Close() // nothing is written through it
	if err := root.MkdirAll(rel, 0o755); err != nil {
		return "", fmt.Errorf("making the artifact's folder: %w", err)
	}
	base, err1 := filepath.EvalSymlinks(tree)
	found, err2 := filepath.EvalSymlinks(dir)
	if err := errors.Join(err1, err2); err != nil {
		return "", err
	}
	if found != filepath.Join(base, rel) {
		return "", fmt.Errorf("the artifact's folder %s is a link to %s: remove it", dir, found)
	}
	return found, nil
}

// resolved leads paths through their links and leaves out what is not there.
func resolved(paths []string) []string {
	var out []string
	for _, path := range paths {
		if found, err := filepath.EvalSymlinks(path); err == nil && filepath.IsAbs(found) {
			out = append(out, found)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// hidden lists what has secrets wherever it lies: the user's repository, and the folder of a GitHub runner.
func hidden(env, objects []string) (out []string) {
	for _, dir := range objects {
		out = append(out, filepath.Dir(dir))
	}
	if workspace := process.Lookup(env, "GITHUB_WORKSPACE"); workspace != "" {
		out = append(out, workspace)
	}
	if temp := process.Lookup(env, "RUNNER_TEMP"); temp != "" {
		out = append(out, temp, filepath.Dir(filepath.Dir(temp)))
	}
	return out
}
