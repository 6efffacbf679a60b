package git

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Hold makes of a program with its environment one that reaches no network, writes only
// below the folder write, and reads besides that only programs and the folders read, some
// of which may come to be later.
type Hold func(argv, env, read []string, write string) (heldArgv, heldEnv []string, err error)

// Converter gives the command by which git starts git-lfs to convert files, without its
// arguments. It starts in dir, a git directory of ours, whose folder store it writes to,
// with an environment of its own, and without an address to fetch from: what is not here
// stays a pointer. Objects are those of the run. Of the settings those about converting
// count. With hold it is held.
func (s lfsSetup) Converter(settings []setting, env environ, dir, objects string, hold Hold) (string, error) {
	store := filepath.Join(dir, "store")
	mine := []setting{{Key: "lfs.storage", Value: store}}
	for _, c := range settings {
		if strings.HasPrefix(c.Key, "lfs.extension.") || c.Key == "lfs.fetchinclude" || c.Key == "lfs.fetchexclude" {
			mine = append(mine, c)
		}
	}
	argv := []string{s.Program}
	vars := slices.Concat(env.Pick("HOME", "TMPDIR"),
		[]string{"PATH=" + env.Path(), "LC_ALL=C", "GIT_DIR=" + dir, "GIT_TERMINAL_PROMPT=0", "GIT_LFS_SKIP_DOWNLOAD_ERRORS=1"},
		settingsEnviron(mine))
	if hold != nil {
		var err error
		read := append(stores(objects), dir, s.Storage)
		if argv, vars, err = hold(argv, vars, read, store); err != nil {
			return "", err
		}
	}
	command := "cd " + shellWord(dir) + " && exec"
	for _, word := range slices.Concat([]string{"env", "-i"}, vars, argv) {
		command += " " + shellWord(word)
	}
	return command, nil
}

// stores are a folder of git objects and those that it borrows from, and the folders of
// Git LFS that git-lfs looks for beside them.
func stores(objects string) []string {
	dirs := []string{objects}
	for i := 0; i < len(dirs) && i < 20; i++ { // they may borrow in a circle
		list, _ := os.ReadFile(filepath.Join(dirs[i], "info", "alternates")) // most have none
		for line := range strings.Lines(string(list)) {
			if line = strings.TrimSpace(line); !filepath.IsAbs(line) {
				line = filepath.Join(dirs[i], line)
			}
			dirs = append(dirs, line)
		}
	}
	for _, dir := range slices.Clone(dirs) {
		dirs = append(dirs, filepath.Join(filepath.Dir(dir), "lfs"))
	}
	return dirs
}
